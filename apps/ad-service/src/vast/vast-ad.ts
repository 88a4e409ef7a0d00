import { hasUserInfo } from "@intermission/ad-core/web-address";

/** What VAST calls `Tracking`, and `impression` and the clicks beside it; `error` carries a code. */
export const trackedEvents = [
  "impression",
  "start",
  "firstQuartile",
  "midpoint",
  "thirdQuartile",
  "complete",
  "close",
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

/** The single ad that results from unwrapping a tag, as stored with the session that shows it. */
export interface VastAd {
  adId: string | null;
  adSystem: string | null;
  advertiser: string | null;
  mediaUrl: string;
  mediaType: string;
  width: number;
  height: number;
  durationMs: number;
  /** Checked, and in its canonical form. */
  clickThrough: string | null;
  /** Templates: macros are filled in when the trackers are called. */
  trackers: Partial<Record<TrackedEvent, string[]>>;
  verifications: AdVerification[];
  companion?: VastCompanion;
  /** The viewer's user agent, sent to the ad's servers beside ours. */
  userAgent: string;
}

/**
 * VAST 4.2, 2.3.6.3. Why a tag returned nothing to show: 100 not XML · 101 not VAST · 102 its version · 201 no video ·
 * 202 its duration · 300 a wrapper · 301 a tag did not respond · 302 too many wrappers · 303 no ad · 403 no playable file.
 * Why a player gave up: 202 its duration · 400 any other reason · 401 file not found · 402 timeout · 403 its type ·
 * 405 it cannot be displayed.
 */
export type VastErrorCode = 100 | 101 | 102 | 201 | 202 | 300 | 301 | 302 | 303 | 400 | 401 | 402 | 403 | 405;

/** Limit for one event of one ad. */
const MOST_URLS = 32;
export const LONGEST_URL = 4096;

/** Empty and relative URLs, which some ad servers send, cannot be called; macros never occur in scheme or host. */
const CALLABLE = /^https?:\/\/[^/[\]%{}]+(\/|\?|$)/i;

/** Adds a callable URL once; the list grows no longer than the number of calls for one event. */
export function addCallableUrl(urls: string[], url: string | null | undefined): void {
  if (!url || urls.length >= MOST_URLS || url.length > LONGEST_URL || !CALLABLE.test(url) || hasUserInfo(url)) return;
  if (!urls.includes(url)) urls.push(url);
}

/** The callable URLs of several lists, each once, the first 32. */
export function callableUrls(...lists: readonly (readonly string[] | undefined)[]): string[] {
  const urls: string[] = [];
  for (const list of lists) for (const url of list ?? []) addCallableUrl(urls, url);
  return urls;
}
