import { hasUserInfo, unescapedAddress } from "@intermission/ad-core/web-address";
import { interactions } from "@intermission/ad-core/wire-fields";
import type { VastReason } from "@intermission/operator-api/vast-reasons";

const playbackEvents = [
  "loaded",
  "start",
  "playerExpand",
  "firstQuartile",
  "midpoint",
  "thirdQuartile",
  "complete",
  "close",
  "skip",
  ...interactions,
] as const;

/** What VAST calls `Tracking`, and `impression` and the clicks beside it; `error` carries a code. */
const trackedEvents = [
  "impression",
  // Of a bid: the notice of its win when the view begins, and what bills its buyer at the first picture.
  "win",
  "billing",
  ...playbackEvents,
  "verificationNotExecuted",
  "click",
  "error",
  "companionView",
  "companionClick",
] as const;
export type TrackedEvent = (typeof trackedEvents)[number];

/** A verification vendor's resource, stored as received: https://iabtechlab.com/standards/open-measurement-sdk/ */
export interface AdVerification {
  vendor: string | null;
  apiFramework: string | null;
  resource: string | null;
  parameters: string | null;
}

/** The picture that the end card shows. */
export interface VastCompanion {
  imageUrl: string;
  width: number;
  height: number;
  /** Its own, checked, and in its canonical form. */
  clickThrough: string | null;
}

export interface ProgressTracker {
  offsetMs: number;
  url: string;
}

export interface AdNames {
  adServingId?: string;
  /** `registry value`, a comma between several. */
  universalAdId?: string;
  adCategories?: string;
}

interface BoughtAd {
  buyerId: string;
  bidId: string;
  priceMicros: number;
  /** The creative that is reviewed and reported; undefined for a tester's view. */
  boughtCreativeId?: string;
}

/** The single ad that results from unwrapping a tag, as stored with the view that shows it. */
export interface VastAd {
  adId: string | null;
  adSystem: string | null;
  advertiser: string | null;
  /** The `AdTitle`: what the ad server calls the ad. */
  title: string | null;
  mediaUrl: string;
  mediaType: string;
  width: number;
  height: number;
  durationMs: number;
  /** Checked, and in its canonical form. */
  clickThrough: string | null;
  /** Templates: macros are filled in when the trackers are called. */
  trackers: Partial<Record<TrackedEvent, string[]>>;
  /** Called once that much was played. */
  progressTrackers?: ProgressTracker[];
  /** What its document says of it, for the macros of its trackers. */
  named?: AdNames;
  /** When its `Expires` ends: it may not be started later. */
  expiresAt?: string;
  verifications: AdVerification[];
  companion?: VastCompanion;
  /** Of a bid that won, with its price for this impression. */
  bought?: BoughtAd;
  /** The viewer's user agent, sent to the ad's servers beside ours. */
  userAgent: string;
}

/**
 * VAST 4.2, 2.3.6.3. Why a tag returned nothing to show: 100 not XML · 101 not VAST · 102 its version · 201 no video ·
 * 202 its duration · 205 a blocked category · 300 a wrapper · 301 a tag did not respond · 302 too many wrappers · 303 no ad ·
 * 403 no playable file · 602 a required companion.
 * Why a player gave up: 202 its duration · 400 any other reason · 401 file not found · 402 timeout · 403 its type ·
 * 405 it cannot be displayed.
 */
export type VastErrorCode =
  | 100
  | 101
  | 102
  | 201
  | 202
  | 205
  | 300
  | 301
  | 302
  | 303
  | 400
  | 401
  | 402
  | 403
  | 405
  | 602;

/** The VAST error code of each reason. */
export const codesOfReasons = {
  "no-ad": 303,
  "too-slow": 301,
  "too-many-requests": 300,
  "too-many-redirects": 301,
  "too-many-wrappers": 302,
  "redirect-without-address": 301,
  "no-answer": 301,
  status: 301,
  "no-content": 303,
  blank: 303,
  "too-large": 301,
  incomplete: 301,
  "all-too-large": 300,
  "address-too-long": 300,
  "unknown-encoding": 100,
  "invalid-encoding": 100,
  json: 100,
  "html-page": 100,
  doctype: 100,
  "too-many-elements": 100,
  "too-deep": 100,
  "too-many-attributes": 100,
  malformed: 100,
  vmap: 101,
  "other-root": 101,
  version: 102,
  "neither-inline-nor-wrapper": 101,
  "wrapper-forbidden": 300,
  "wrapper-without-address": 300,
  "blocked-category": 205,
  "companion-required": 602,
  "no-creative": 303,
  "no-linear": 201,
  "no-media-file": 403,
  "no-playable-file": 403,
  "no-duration": 202,
  duration: 202,
} as const satisfies Record<VastReason["kind"], VastErrorCode>;

/** Limit for one event of one ad. */
const MAX_URLS = 32;
export const MAX_URL_LENGTH = 4096;

/** A placeholder that its ad server did not fill in stands for the whole address or for its host. */
const BEGINS_WITH_MACRO = /^(?:\[|\{|\$\{|%%|%5B)/i;

/**
 * An address of a document as a browser would resolve it (WHATWG URL) against the document's own: relative, without its
 * scheme, with unencoded characters or line ends. `&amp;` left by double escaping is read as `&`. Macros in its path and
 * query stay. Undefined for one that no request can be sent to: empty, too long, of another scheme, with a user name, or
 * with a macro in place of its host.
 */
export function resolveAddress(text: string, base: string | undefined): string | undefined {
  if (text === "" || text.length > MAX_URL_LENGTH || BEGINS_WITH_MACRO.test(text) || hasUserInfo(text))
    return undefined;
  const href = URL.parse(unescapedAddress(text), base)?.href;
  return href !== undefined && isCallable(href) ? href : undefined;
}

/**
 * A valid address as the page requests it. In production that is `https:` for `http:`, too: browsers refuse or upgrade the
 * latter on a page of https (Mixed Content, level 2), and the page's policy allows only the former.
 */
export function addressForPage(address: string, isPlainHttpAllowed: boolean): string {
  const url = new URL(address);
  if (url.protocol === "http:" && !isPlainHttpAllowed) url.protocol = "https:";
  return url.href;
}

/** Empty and relative URLs cannot be called; macros never occur in scheme or host. */
const CALLABLE = /^https?:\/\/[^/[\]%{}]+(\/|\?|$)/i;

function isCallable(url: string): boolean {
  return url.length <= MAX_URL_LENGTH && CALLABLE.test(url) && !hasUserInfo(url);
}

/** Adds a callable URL once; the list grows no longer than the number of calls for one event. False: it is not in the list. */
export function addCallableUrl(urls: string[], url: string | null | undefined): boolean {
  if (!url || !isCallable(url)) return false;
  if (urls.includes(url)) return true;
  if (urls.length >= MAX_URLS) return false;
  urls.push(url);
  return true;
}

/** The callable URLs of several lists, each once, the first 32. */
export function callableUrls(...lists: readonly (readonly string[] | undefined)[]): string[] {
  const urls: string[] = [];
  for (const list of lists) for (const url of list ?? []) addCallableUrl(urls, url);
  return urls;
}

/** What is read from a VAST document, with bounded lists; it is not validated yet. */
export interface VastDocument {
  /** 2, 3 or 4; 0 if the document does not declare it. */
  majorVersion: number;
  errorUrls: string[];
  ads: DocumentAd[];
  /** Some `Ad` is neither `InLine` nor `Wrapper`: the document violates the schema. */
  hasAdOfNeitherKind: boolean;
}

export interface DocumentAd {
  id: string | null;
  /** Its position in an ad pod; 0 for an ad outside of a pod. */
  sequence: number;
  adSystem: string | null;
  advertiser: string | null;
  title: string | null;
  errorUrls: string[];
  impressionUrls: string[];
  /** The `Viewable` URLs of `ViewableImpression`. */
  viewableUrls: string[];
  creatives: DocumentCreative[];
  verifications: DocumentVerification[];
  companions: DocumentCompanion[];
  /** Of all `CompanionAds`, the strictest. */
  companionsRequired: "all" | "any" | "none";
  /** Companions of every kind, also those that are not read. */
  companionCount: number;
  adServingId: string | null;
  universalAdIds: string[];
  categories: DocumentCategory[];
  /** A wrapper's `BlockedAdCategories`, and after unwrapping those of all of them. */
  blockedCategories: DocumentCategory[];
  expiresSeconds: number | undefined;
  /** Undefined for an InLine ad. */
  wrapper: DocumentWrapper | undefined;
}

export interface DocumentCategory {
  authority: string | null;
  code: string;
}

interface DocumentWrapper {
  /** Resolved; as it was sent if that is no web address. */
  tagUrl: string;
  followAdditionalWrappers: boolean;
  allowMultipleAds: boolean;
}

/** Of a creative that is not linear, only its presence is recorded. */
export type DocumentCreative = DocumentLinear | { kind: "other" };

export interface DocumentLinear {
  kind: "linear";
  durationMs: number | undefined;
  mediaFiles: MediaFile[];
  /** Null if there is no element; empty if the element is empty. */
  clickThrough: string | null;
  clickTrackingUrls: string[];
  trackingUrls: Partial<Record<LinearEvent, string[]>>;
  progressUrls: { offset: string; url: string }[];
}

/** The `Tracking` events that this service calls. */
export const linearEvents = ["creativeView", ...playbackEvents, "closeLinear"] as const;
export type LinearEvent = (typeof linearEvents)[number];

export interface MediaFile {
  /** Resolved; as it was sent if that is no web address. */
  fileUrl: string;
  delivery: string | null;
  mimeType: string | null;
  codec: string | null;
  apiFramework: string | null;
  /** kbit/s; 0 if the ad does not declare it. */
  bitrate: number;
  /** 0 if the ad does not declare it. */
  width: number;
  height: number;
}

/** A companion with a picture: others, such as frames and scripts, are not read. */
export interface DocumentCompanion {
  imageUrl: string;
  /** 0 if the ad does not declare it. */
  width: number;
  height: number;
  /** VAST 4.1: `default`, `end-card` or `concurrent`. */
  renderingMode: string | null;
  clickThrough: string | null;
  clickTrackingUrls: string[];
  viewUrls: string[];
}

const PICTURE_TYPE = /^\s*image\/(png|jpe?g|gif|webp)\s*(;|$)/i;

export function isPictureType(creativeType = ""): boolean {
  return PICTURE_TYPE.test(creativeType);
}

export interface DocumentVerification {
  vendor: string | null;
  apiFramework: string | null;
  resource: string | null;
  parameters: string | null;
  notExecutedUrls: string[];
}

/** Longer than any video: larger values are cut to this one. */
const MAX_SECONDS = 999_999;
const CLOCK = /^(?:(\d{1,4}):)?(\d{1,4}):(\d{1,4})(?:[.,](\d{1,9}))?$/;
const SECONDS = /^\d{1,6}(?:\.\d{1,9})?$/;
const MAX_NUMBER = 1_000_000;

/**
 * `HH:MM:SS.mmm`, and what ad servers write instead: `MM:SS`, plain seconds, sixty seconds or minutes and more. Undefined for
 * anything else.
 */
export function durationMsOf(text: string): number | undefined {
  const clock = CLOCK.exec(text);
  if (clock) {
    const [, hours = "0", minutes, seconds, fraction = "0"] = clock;
    const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return Math.round((whole + Number(`0.${fraction}`)) * 1000);
  }
  if (!SECONDS.test(text)) return undefined;
  return Math.round(Math.min(Number(text), MAX_SECONDS) * 1000);
}

/** An `offset`: a time, or a share such as `25%`. Undefined for one behind the end, or another text. */
export function offsetMsOf(offset: string, durationMs: number): number | undefined {
  const share = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(offset.trim())?.[1];
  const offsetMs = share === undefined ? durationMsOf(offset.trim()) : Math.round((durationMs * Number(share)) / 100);
  return offsetMs !== undefined && offsetMs <= durationMs ? offsetMs : undefined;
}

/** A count of pixels or of kbit/s, from its leading digits; 0 if there is no plausible one. */
export function numberOf(text: string | undefined): number {
  const number = Number(/^\s*(\d{1,9})(?!\d)/.exec(text ?? "")?.[1] ?? 0);
  return number <= MAX_NUMBER ? number : 0;
}

/** As the macros have categories: with a comma between them. */
export function categoryText(categories: readonly DocumentCategory[]): string | undefined {
  return categories.length > 0 ? categories.map(({ code }) => code).join(",") : undefined;
}

/** XML's booleans, in the spellings that ad servers use. */
export function isTrue(text: string): boolean {
  return ["true", "TRUE", "True", "1"].includes(text);
}
