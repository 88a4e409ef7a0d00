import type { VastReason } from "@intermission/operator-api/vast-reasons";
import type { Device } from "../creatives/choose-rendition.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { type Drops, drop } from "./drops.ts";
import { documentFetcher, type TagStep } from "./fetch-document.ts";
import type { Macros } from "./fill-macros.ts";
import { judgeAd } from "./judge-ad.ts";
import { parseDocument, VastFault } from "./parse-document.ts";
import { nextTurn, type Turns } from "./read-xml.ts";
import {
  addCallableUrl,
  callableUrls,
  categoryText,
  codesOfReasons,
  type DocumentAd,
  type DocumentCreative,
  type DocumentLinear,
  linearEvents,
  type VastAd,
  type VastDocument,
  type VastErrorCode,
} from "./vast-ad.ts";

/** Documents after the first one. */
const MAX_WRAPPERS = 5;
/** In a response to a wrapper that does not allow several ads. */
const MAX_ADS_OF_WRAPPER = 2;

/** An ad with the additions of the wrappers around it; with a fault, the wrapper at which the chain ended. */
type UnwrappedAd = DocumentAd & { fault?: VastFault };

interface WrapperDeps {
  /** Throws a VastFault. */
  fetchDocument(url: string, macros?: Pick<Macros, "blockedAdCategories">): Promise<VastDocument>;
  root: VastDocument;
  /** Receives the `Error` URLs of the documents that wrappers lead to. */
  errorUrls: string[];
  drops: Drops;
}

/** Follows an ad's wrappers until each chain ends in an ad or in a fault. */
export async function followWrappers(deps: WrapperDeps, ad: DocumentAd, hops = 0): Promise<UnwrappedAd[]> {
  const { wrapper } = ad;
  if (!wrapper) return [ad];
  if (hops >= MAX_WRAPPERS) return [{ ...ad, fault: new VastFault({ kind: "too-many-wrappers", max: MAX_WRAPPERS }) }];
  if (wrapper.tagUrl === "") return [{ ...ad, fault: new VastFault({ kind: "wrapper-without-address" }) }];
  try {
    const macros = { blockedAdCategories: categoryText(ad.blockedCategories) };
    const inner = await adsOfWrapper(deps, wrapper, await deps.fetchDocument(wrapper.tagUrl, macros));
    const unwrapped = await Promise.all(inner.map((one) => followWrappers(deps, one, hops + 1)));
    if (inner.length === 0) return [{ ...ad, creatives: [] }];
    return unwrapped.flat().map((one) => merge(one, ad));
  } catch (error) {
    if (!(error instanceof VastFault)) throw error;
    return [{ ...ad, fault: error }];
  }
}

async function adsOfWrapper(
  { root, errorUrls, drops }: WrapperDeps,
  wrapper: NonNullable<DocumentAd["wrapper"]>,
  { ads, errorUrls: ofDocument, hasAdOfNeitherKind }: VastDocument,
): Promise<DocumentAd[]> {
  for (const url of ofDocument) addCallableUrl(errorUrls, url);
  if (hasAdOfNeitherKind) throw new VastFault({ kind: "neither-inline-nor-wrapper" });
  if (!wrapper.followAdditionalWrappers && ads.some((ad) => ad.wrapper)) {
    throw new VastFault({ kind: "wrapper-forbidden" });
  }
  // The attribute exists since VAST 3; before that, all ads count.
  if (wrapper.allowMultipleAds || root.majorVersion === 2) return ads;
  const chosen = adsOutsideOfPod(ads).slice(0, MAX_ADS_OF_WRAPPER);
  drop(drops, "pod-ad", ads.length - chosen.length);
  return chosen;
}

/**
 * The ads of an answer from which only one may be shown: those without a position in a pod. If all have one, as where an ad
 * server numbers its only ad, the first of them.
 */
function adsOutsideOfPod(ads: readonly DocumentAd[]): DocumentAd[] {
  const alone = ads.filter((ad) => ad.wrapper || ad.sequence === 0);
  return alone.length > 0 ? alone : ads.toSorted((a, b) => a.sequence - b.sequence).slice(0, 1);
}

function merge(inner: UnwrappedAd, wrapper: DocumentAd): UnwrappedAd {
  const ofWrapper = wrapper.creatives.filter((creative) => creative.kind === "linear");
  return {
    ...inner,
    errorUrls: callableUrls(wrapper.errorUrls, inner.errorUrls),
    impressionUrls: callableUrls(wrapper.impressionUrls, inner.impressionUrls),
    viewableUrls: callableUrls(wrapper.viewableUrls, inner.viewableUrls),
    verifications: [...inner.verifications, ...wrapper.verifications],
    // Those closest to the video count.
    ...(inner.companionCount > 0 ? {} : companionsOf(wrapper)),
    blockedCategories: [...inner.blockedCategories, ...wrapper.blockedCategories],
    expiresSeconds: leastOf(inner.expiresSeconds, wrapper.expiresSeconds),
    creatives: inner.creatives.map((creative) => mergeCreative(creative, ofWrapper)),
  };
}

function companionsOf({ companions, companionsRequired, companionCount }: DocumentAd) {
  return { companions, companionsRequired, companionCount };
}

function leastOf(...seconds: (number | undefined)[]): number | undefined {
  const known = seconds.filter((one) => one !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
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
    progressUrls: [creative, ...ofWrapper].flatMap(({ progressUrls }) => progressUrls),
    clickTrackingUrls: callableUrls(creative.clickTrackingUrls, ...ofWrapper.map((linear) => linear.clickTrackingUrls)),
    // In VAST 2 a wrapper may contain the click-through.
    clickThrough:
      creative.clickThrough ?? ofWrapper.findLast((linear) => linear.clickThrough !== null)?.clickThrough ?? null,
  };
}

/** Limit for all errors of one tag together. */
const MAX_ERROR_CALLS = 64;

/** Templates of the URLs that receive an error. */
export interface ErrorCall {
  code: VastErrorCode;
  addresses: string[];
}

/**
 * `errors` are to be reported in either case: of several ads, the first may be broken and the second shown. `drops`: what of
 * the documents was not used.
 */
export type UnwrapOutcome = { errors: ErrorCall[]; drops: Drops } & (
  | { outcome: "ad"; ad: VastAd }
  | { outcome: "no-ad"; code: VastErrorCode; reason: VastReason }
);

/** Where the first document is: at an address, or here. */
type TagSource = { url: string } | { markup: string };

/** A tag, and the viewer for whom it is requested. */
export type TagRequest = TagSource & TagViewer;

interface TagViewer {
  viewId: string;
  userAgent: string;
  device: Device;
}

export interface UnwrapDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
  isPlainHttpAllowed: boolean;
  turns: Turns;
  totalMs?: number;
  /** Called after each request, for who tries a tag. */
  observe?: (step: TagStep) => void;
}

/** Requests an ad from a VAST 2.0–4.2 tag and follows its wrappers. Throws only for faults of this service. */
export async function unwrapTag(
  { requests, isPlainHttpAllowed, turns, totalMs, observe }: UnwrapDeps,
  { viewId, userAgent, device, now, ...source }: TagRequest & { now: () => Date },
): Promise<UnwrapOutcome> {
  const macros = (): Macros => ({ now: now(), chance: Math.random(), viewId, userAgent });
  const drops: Drops = {};
  const limit = totalMs !== undefined && { totalMs };
  const fetchDocument = documentFetcher(requests, { macros, turns, drops, observe, ...limit });
  const errors: ErrorCall[] = [];
  let errorCalls = 0;
  let last: VastReason = { kind: "no-ad" };

  const report = (reason: VastReason, ...urls: readonly string[][]) => {
    last = reason;
    const code = codesOfReasons[reason.kind];
    const addresses = callableUrls(...urls).slice(0, MAX_ERROR_CALLS - errorCalls);
    errorCalls += addresses.length;
    if (addresses.length > 0) errors.push({ code, addresses });
  };

  let root: VastDocument;
  try {
    root =
      "markup" in source
        ? await parseDocument(turns, Buffer.from(source.markup), { drops })
        : await fetchDocument(source.url);
  } catch (error) {
    if (!(error instanceof VastFault)) throw error;
    return { ...noAd(error.reason), errors, drops };
  }
  if (root.hasAdOfNeitherKind) report({ kind: "neither-inline-nor-wrapper" }, root.errorUrls);
  else if (root.ads.length === 0) report({ kind: "no-ad" }, root.errorUrls);
  for (const group of root.hasAdOfNeitherKind ? [] : groupsOf(root)) {
    const errorUrls: string[] = [];
    const deps = { fetchDocument, root, errorUrls, drops };
    const unwrapped = await Promise.all(group.map((ad) => followWrappers(deps, ad)));
    for (const ad of unwrapped.flat()) {
      await nextTurn(turns);
      const judged = ad.fault
        ? ({ outcome: "fault", reason: ad.fault.reason } as const)
        : judgeAd(ad, { userAgent, device, isPlainHttpAllowed, drops, now: now() });
      if (judged.outcome === "ad") return { outcome: "ad", ad: judged.ad, errors, drops };
      report(judged.reason, ad.errorUrls, root.errorUrls, errorUrls);
    }
  }
  return { ...noAd(last), errors, drops };
}

/** Groups to try in order: the ad pod as a whole first, then each ad outside of it. */
function groupsOf({ ads }: VastDocument): DocumentAd[][] {
  const pod = ads.filter(({ sequence }) => sequence > 0).toSorted((a, b) => a.sequence - b.sequence);
  const alone = ads.filter(({ sequence }) => sequence === 0).map((ad) => [ad]);
  return pod.length > 0 ? [pod, ...alone] : alone;
}

function noAd(reason: VastReason) {
  return { outcome: "no-ad" as const, code: codesOfReasons[reason.kind], reason };
}
