import type { Device } from "../creatives/choose-rendition.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { fillMacros, type Macros } from "./fill-macros.ts";
import { judgeAd } from "./judge-ad.ts";
import { parseDocument, VastFault } from "./parse-document.ts";
import { nextTurn } from "./read-xml.ts";
import {
  addCallableUrl,
  callableUrls,
  type DocumentAd,
  type DocumentCreative,
  type DocumentLinear,
  LONGEST_URL,
  linearEvents,
  type VastAd,
  type VastDocument,
  type VastErrorCode,
} from "./vast-ad.ts";

/** For all hops of one tag together. */
const TOTAL_MS = 5000;
/** Includes redirects and the wrappers of several ads: a tag must not make this service call whole networks. */
const MOST_REQUESTS = 16;
const MOST_REDIRECTS = 5;
const MOST_DOCUMENT_BYTES = 512 * 1024;
/** For all documents together: parsing each takes time. */
const MOST_BYTES = 2 * 1024 * 1024;

/**
 * Fetches the documents that one tag leads to, within one deadline; their URLs are templates. Requests carry the
 * viewer's user agent, but not the viewer's address. The returned function throws a VastFault.
 */
export function documentFetcher(
  requests: Pick<GuardedRequests, "guardedRequest">,
  { macros, totalMs = TOTAL_MS }: { macros: () => Macros; totalMs?: number },
): (template: string) => Promise<VastDocument> {
  const endsAt = performance.now() + totalMs;
  let requestsLeft = MOST_REQUESTS;
  let bytesLeft = MOST_BYTES;

  async function fetchOnce(url: string) {
    const leftMs = endsAt - performance.now();
    if (leftMs < 1) throw new VastFault(301, `nothing within ${totalMs} ms`);
    if (--requestsLeft < 0) throw new VastFault(300, `more than ${MOST_REQUESTS} requests`);
    const { userAgent = "" } = macros();
    return requests.guardedRequest({
      url,
      method: "GET",
      purpose: "vast",
      headers: headersFor(userAgent),
      mostBodyBytes: MOST_DOCUMENT_BYTES,
      totalTimeoutMs: leftMs,
    });
  }

  return async (template) => {
    if (template.length > LONGEST_URL) throw new VastFault(300, `a tag is longer than ${LONGEST_URL} characters`);
    let url = fillMacros(template, macros());
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const result = await fetchOnce(url);
      if (result.outcome === "failed" && result.errorClass === "redirect") {
        const next = result.location === undefined ? null : URL.parse(result.location, url);
        if (!next) throw new VastFault(301, "a redirect to no address");
        url = next.href;
        continue;
      }
      if (result.outcome === "failed") throw new VastFault(301, `${result.errorClass}: ${result.detail}`);
      if (result.status === 204) throw new VastFault(303, "an answer without content");
      if (result.status !== 200) throw new VastFault(301, `status ${result.status}`);
      if (!result.body) throw new VastFault(301, "more than 512 KiB, or broken off");
      if (result.body.byteLength === 0) throw new VastFault(303, "an empty answer");
      bytesLeft -= result.body.byteLength;
      if (bytesLeft < 0) throw new VastFault(300, `more than ${MOST_BYTES / 1024 / 1024} MiB in all documents`);
      return parseDocument(result.body);
    }
    throw new VastFault(301, `more than ${MOST_REDIRECTS} redirects`);
  };
}

/** Headers that IAB requires of servers that act for a device; `X-Device-IP` is omitted on purpose. */
export function headersFor(userAgent: string): Record<string, string> {
  const device = userAgent.replace(/[^\x20-\x7e]/g, "").slice(0, 512);
  return {
    accept: "application/xml, text/xml, */*",
    "user-agent": "Intermission",
    ...(device && { "x-device-user-agent": device }),
  };
}

/** Documents after the first one. */
const MOST_WRAPPERS = 5;
/** In a response to a wrapper that does not allow several ads. */
const MOST_ADS_OF_WRAPPER = 2;

/** An ad with the additions of the wrappers around it; with a fault, the wrapper at which the chain ended. */
export type UnwrappedAd = DocumentAd & { fault?: VastFault };

export interface WrapperDeps {
  /** Throws a VastFault. */
  fetchDocument(url: string): Promise<VastDocument>;
  root: VastDocument;
  /** Receives the `Error` URLs of the documents that wrappers lead to. */
  errorUrls: string[];
}

/** Follows an ad's wrappers until each chain ends in an ad or in a fault. `url` is the address of the ad's document. */
export async function followWrappers(
  deps: WrapperDeps,
  ad: DocumentAd,
  { url, hops = 0 }: { url: string; hops?: number },
): Promise<UnwrappedAd[]> {
  const { wrapper } = ad;
  if (!wrapper) return [ad];
  if (hops >= MOST_WRAPPERS) return [{ ...ad, fault: new VastFault(302, `more than ${MOST_WRAPPERS} wrappers`) }];
  try {
    const next = absoluteUrl(wrapper.tagUrl, url);
    const inner = await adsOfWrapper(deps, wrapper, await deps.fetchDocument(next));
    const unwrapped = await Promise.all(inner.map((one) => followWrappers(deps, one, { url: next, hops: hops + 1 })));
    if (inner.length === 0) return [{ ...ad, creatives: [] }];
    return unwrapped.flat().map((one) => merge(one, ad));
  } catch (error) {
    if (!(error instanceof VastFault)) throw error;
    return [{ ...ad, fault: error }];
  }
}

async function adsOfWrapper(
  { root, errorUrls }: WrapperDeps,
  wrapper: NonNullable<DocumentAd["wrapper"]>,
  { ads, errorUrls: ofDocument, hasAdOfNeitherKind }: VastDocument,
): Promise<DocumentAd[]> {
  for (const url of ofDocument) addCallableUrl(errorUrls, url);
  if (hasAdOfNeitherKind) throw new VastFault(101, "an Ad is neither InLine nor Wrapper");
  if (!wrapper.followAdditionalWrappers && ads.some((ad) => ad.wrapper)) {
    throw new VastFault(300, "a wrapper leads to another, which it forbids");
  }
  // The attribute exists since VAST 3; before that, all ads count.
  if (wrapper.allowMultipleAds || root.majorVersion === 2) return ads;
  return ads.filter((ad) => ad.wrapper || ad.sequence === 0).slice(0, MOST_ADS_OF_WRAPPER);
}

/** Resolves `//host/path` and `path`, which occur, without a URL parser, which would encode macros. */
function absoluteUrl(url: string, base: string): string {
  if (url.startsWith("//")) return `https:${url}`;
  return url.includes("://") ? url : `${base.slice(0, base.lastIndexOf("/"))}/${url}`;
}

function merge(inner: UnwrappedAd, wrapper: DocumentAd): UnwrappedAd {
  const ofWrapper = wrapper.creatives.filter((creative) => creative.kind === "linear");
  return {
    ...inner,
    errorUrls: callableUrls(wrapper.errorUrls, inner.errorUrls),
    impressionUrls: callableUrls(wrapper.impressionUrls, inner.impressionUrls),
    verifications: [...inner.verifications, ...wrapper.verifications],
    // Those closest to the video count.
    companions: inner.companions.length > 0 ? inner.companions : wrapper.companions,
    creatives: inner.creatives.map((creative) => mergeCreative(creative, ofWrapper)),
  };
}

function mergeCreative(creative: DocumentCreative, ofWrapper: readonly DocumentLinear[]): DocumentCreative {
  if (creative.kind !== "linear") return creative;
  const trackingUrls = linearEvents.map((event) => {
    const urls = callableUrls(creative.trackingUrls[event], ...ofWrapper.map((linear) => linear.trackingUrls[event]));
    return [event, urls] as const;
  });
  return {
    ...creative,
    trackingUrls: Object.fromEntries(trackingUrls),
    clickTrackingUrls: callableUrls(creative.clickTrackingUrls, ...ofWrapper.map((linear) => linear.clickTrackingUrls)),
    // In VAST 2 a wrapper may contain the click-through.
    clickThrough:
      creative.clickThrough ?? ofWrapper.findLast((linear) => linear.clickThrough !== null)?.clickThrough ?? null,
  };
}

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
