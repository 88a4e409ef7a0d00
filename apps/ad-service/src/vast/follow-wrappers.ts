import { addCallableUrl, callableUrls } from "./callable-urls.ts";
import { VastFault } from "./parse-document.ts";
import {
  type DocumentAd,
  type DocumentCreative,
  type DocumentLinear,
  linearEvents,
  type VastDocument,
} from "./vast-document.ts";

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
