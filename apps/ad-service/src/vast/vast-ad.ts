/** What VAST calls `Tracking`, and `impression` and `click` beside it; `error` carries a code. */
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
] as const;
export type TrackedEvent = (typeof trackedEvents)[number];

/** A verification vendor's resource, stored as received: https://iabtechlab.com/standards/open-measurement-sdk/ */
export interface AdVerification {
  vendor: string | null;
  apiFramework: string | null;
  resource: string | null;
  parameters: string | null;
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
