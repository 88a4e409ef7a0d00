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

/** A verification vendor's resource, kept as it came: https://iabtechlab.com/standards/open-measurement-sdk/ */
export interface AdVerification {
  vendor: string | null;
  apiFramework: string | null;
  resource: string | null;
  parameters: string | null;
}

/** The one ad that a tag was unwrapped to, as it is stored with the session that shows it. */
export interface VastAd {
  adId: string | null;
  adSystem: string | null;
  advertiser: string | null;
  mediaUrl: string;
  mediaType: string;
  width: number;
  height: number;
  durationMs: number;
  /** Checked, in its canonical form. */
  clickThrough: string | null;
  /** Templates: their macros are filled when they are called. */
  trackers: Partial<Record<TrackedEvent, string[]>>;
  verifications: AdVerification[];
  /** Of the viewer, told to the ad's servers beside ours. */
  userAgent: string;
}

/**
 * VAST 4.2, 2.3.6.3: why a tag brought nothing to show. 100 no XML · 101 no VAST · 102 its version · 201 no video ·
 * 202 its length · 300 a wrapper · 301 a tag did not answer · 302 too many wrappers · 303 no ad · 403 no playable file.
 * And why a player gave up: 202 its length · 400 any other reason · 401 no file there · 402 it did not come in time ·
 * 403 its type · 405 it cannot be displayed.
 */
export type VastErrorCode = 100 | 101 | 102 | 201 | 202 | 300 | 301 | 302 | 303 | 400 | 401 | 402 | 403 | 405;
