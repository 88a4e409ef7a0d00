import { VASTParser } from "@dailymotion/vast-client";
import type { Device } from "../creatives/describe-device.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { documentFetcher } from "./fetch-document.ts";
import type { Macros } from "./fill-macros.ts";
import { callable, judgeAd, type ParsedAd } from "./judge-ad.ts";
import { VastFault } from "./parse-document.ts";
import type { VastAd, VastErrorCode } from "./vast-ad.ts";

/** Hops after the first tag. */
const MOST_WRAPPERS = 5;

/** Templates of addresses to be told of an error. */
export interface ErrorCall {
  code: VastErrorCode;
  addresses: string[];
}

/** `errors` are to be reported in either case: of several ads, the first may be broken and the second shown. */
export type UnwrapOutcome = { errors: ErrorCall[] } & (
  | { outcome: "ad"; ad: VastAd }
  | { outcome: "no-ad"; code: VastErrorCode; detail: string }
);

/** A tag, and for whom it is asked. */
export interface TagRequest {
  url: string;
  sessionId: string;
  userAgent: string;
  device: Device;
}

export interface UnwrapDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
  isPlainHttpAllowed: boolean;
  totalMs?: number;
}

interface ParsedResponse {
  ads: ParsedAd[];
  errorURLTemplates: (string | null)[];
}

/** What the library would call and throw away itself is judged and reported here. */
class Parser extends VASTParser {
  override completeWrapperResolving(): void {}
  override trackVastError(): void {}
}

/** Asks a VAST 2.0–4.2 tag for an ad and follows its wrappers. Throws only for faults of our own. */
export async function unwrapTag(
  { requests, isPlainHttpAllowed, totalMs }: UnwrapDeps,
  { url, sessionId, userAgent, device, now }: TagRequest & { now: () => Date },
): Promise<UnwrapOutcome> {
  const macros = (): Macros => ({ now: now(), chance: Math.random(), sessionId, userAgent });
  const fetcher = documentFetcher(requests, { macros, ...(totalMs !== undefined && { totalMs }) });
  const parser = new Parser({ fetcher });
  const errors: ErrorCall[] = [];
  let last: { code: VastErrorCode; detail: string } = { code: 303, detail: "the tag has no ad" };

  const report = (code: VastErrorCode, detail: string, addresses: (string | null)[]) => {
    last = { code, detail };
    const known = callable(addresses);
    if (known.length > 0) errors.push({ code, addresses: known });
  };

  try {
    const options = { url, resolveAll: false, wrapperLimit: MOST_WRAPPERS + 1 };
    let response: ParsedResponse = await parser.parseVAST(await fetcher.fetchVAST({ url }), options);
    for (;;) {
      for (const ad of response.ads) {
        const judged = faultOf(ad, fetcher.faults) ?? judgeAd(ad, { userAgent, device, isPlainHttpAllowed });
        if (judged.outcome === "ad") return { outcome: "ad", ad: judged.ad, errors };
        report(judged.code, judged.detail, [...ad.errorURLTemplates, ...response.errorURLTemplates]);
      }
      if (response.ads.length === 0) report(303, "the tag has no ad", response.errorURLTemplates);
      if (parser.remainingAds.length === 0) return { outcome: "no-ad", ...last, errors };
      response = await parser.getRemainingAds(false);
    }
  } catch (error) {
    if (error instanceof VastFault) report(error.code, error.message, parser.getErrorURLTemplates());
    // An `Ad` of neither kind, an attribute of no sense: the library has no words for them.
    else if (error instanceof TypeError || error instanceof RangeError)
      report(101, error.message, parser.getErrorURLTemplates());
    else throw error;
    return { outcome: "no-ad", ...last, errors };
  }
}

function faultOf(ad: ParsedAd, faults: ReadonlyMap<string, VastFault>) {
  if (ad.errorCode === undefined) return undefined;
  const fault = ad.nextWrapperURL === undefined ? undefined : faults.get(ad.nextWrapperURL);
  const code: VastErrorCode = fault?.code ?? (ad.errorCode === 302 ? 302 : 300);
  return { outcome: "fault" as const, code, detail: fault?.message ?? `a wrapper failed (${code})` };
}
