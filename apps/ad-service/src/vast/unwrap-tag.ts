import type { Device } from "../creatives/describe-device.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { callableUrls } from "./callable-urls.ts";
import { documentFetcher } from "./fetch-document.ts";
import type { Macros } from "./fill-macros.ts";
import { followWrappers } from "./follow-wrappers.ts";
import { judgeAd } from "./judge-ad.ts";
import { VastFault } from "./parse-document.ts";
import { nextTurn } from "./read-xml.ts";
import type { VastAd, VastErrorCode } from "./vast-ad.ts";
import type { DocumentAd, VastDocument } from "./vast-document.ts";

/** Limit for all errors of one tag together. */
const MOST_ERROR_CALLS = 64;

/** Templates of the URLs that receive an error. */
export interface ErrorCall {
  code: VastErrorCode;
  addresses: string[];
}

/** `errors` are to be reported in either case: of several ads, the first may be broken and the second shown. */
export type UnwrapOutcome = { errors: ErrorCall[] } & (
  | { outcome: "ad"; ad: VastAd }
  | { outcome: "no-ad"; code: VastErrorCode; detail: string }
);

/** A tag, and the viewer for whom it is requested. */
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

/** Requests an ad from a VAST 2.0–4.2 tag and follows its wrappers. Throws only for faults of this service. */
export async function unwrapTag(
  { requests, isPlainHttpAllowed, totalMs }: UnwrapDeps,
  { url, sessionId, userAgent, device, now }: TagRequest & { now: () => Date },
): Promise<UnwrapOutcome> {
  const macros = (): Macros => ({ now: now(), chance: Math.random(), sessionId, userAgent });
  const fetchDocument = documentFetcher(requests, { macros, ...(totalMs !== undefined && { totalMs }) });
  const errors: ErrorCall[] = [];
  let errorCalls = 0;
  let last: { code: VastErrorCode; detail: string } = { code: 303, detail: "the tag has no ad" };

  const report = (code: VastErrorCode, detail: string, ...urls: readonly string[][]) => {
    last = { code, detail };
    const addresses = callableUrls(...urls).slice(0, MOST_ERROR_CALLS - errorCalls);
    errorCalls += addresses.length;
    if (addresses.length > 0) errors.push({ code, addresses });
  };

  let root: VastDocument;
  try {
    root = await fetchDocument(url);
  } catch (error) {
    if (!(error instanceof VastFault)) throw error;
    return { outcome: "no-ad", code: error.code, detail: error.message, errors };
  }
  if (root.hasAdOfNeitherKind) report(101, "an Ad is neither InLine nor Wrapper", root.errorUrls);
  else if (root.ads.length === 0) report(303, "the tag has no ad", root.errorUrls);
  for (const group of root.hasAdOfNeitherKind ? [] : groupsOf(root)) {
    const errorUrls: string[] = [];
    const deps = { fetchDocument, root, errorUrls };
    const unwrapped = await Promise.all(group.map((ad) => followWrappers(deps, ad, { url })));
    for (const ad of unwrapped.flat()) {
      await nextTurn();
      const judged = ad.fault ? faultOf(ad.fault) : judgeAd(ad, { userAgent, device, isPlainHttpAllowed });
      if (judged.outcome === "ad") return { outcome: "ad", ad: judged.ad, errors };
      report(judged.code, judged.detail, ad.errorUrls, root.errorUrls, errorUrls);
    }
  }
  return { outcome: "no-ad", ...last, errors };
}

/** Groups to try in order: the ad pod as a whole first, then each ad outside of it. */
function groupsOf({ ads }: VastDocument): DocumentAd[][] {
  const pod = ads.filter(({ sequence }) => sequence > 0).toSorted((a, b) => a.sequence - b.sequence);
  const alone = ads.filter(({ sequence }) => sequence === 0).map((ad) => [ad]);
  return pod.length > 0 ? [pod, ...alone] : alone;
}

function faultOf({ code, message }: VastFault) {
  return { outcome: "fault" as const, code, detail: message };
}
