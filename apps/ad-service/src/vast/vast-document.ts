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
  errorUrls: string[];
  impressionUrls: string[];
  creatives: DocumentCreative[];
  verifications: DocumentVerification[];
  companions: DocumentCompanion[];
  /** Undefined for an InLine ad. */
  wrapper: DocumentWrapper | undefined;
}

export interface DocumentWrapper {
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
}

/** The `Tracking` events that this service calls. */
export const linearEvents = [
  "creativeView",
  "start",
  "firstQuartile",
  "midpoint",
  "thirdQuartile",
  "complete",
  "close",
  "closeLinear",
] as const;
export type LinearEvent = (typeof linearEvents)[number];

export interface MediaFile {
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

const PICTURE_TYPE = /^\s*image\/(png|jpe?g|gif|webp)\s*$/i;

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
const MOST_SECONDS = 999_999;
const CLOCK = /^(\d{1,2}):([0-5]?\d):([0-5]?\d)(?:\.(\d{1,9}))?$/;
const SECONDS = /^\d{1,6}(?:\.\d{1,9})?$/;
const LARGEST_NUMBER = 1_000_000;

/** `HH:MM:SS.mmm`, or plain seconds, which some ad servers write; undefined if it is no valid time of a clock. */
export function durationMsOf(text: string): number | undefined {
  const clock = CLOCK.exec(text);
  if (clock) {
    const [, hours, minutes, seconds, fraction = "0"] = clock;
    const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return Math.round((whole + Number(`0.${fraction}`)) * 1000);
  }
  if (!SECONDS.test(text)) return undefined;
  return Math.round(Math.min(Number(text), MOST_SECONDS) * 1000);
}

/** A count of pixels or of kbit/s, from its leading digits; 0 if there is no plausible one. */
export function numberOf(text: string | undefined): number {
  const number = Number(/^\s*(\d{1,9})(?!\d)/.exec(text ?? "")?.[1] ?? 0);
  return number <= LARGEST_NUMBER ? number : 0;
}

/** XML's booleans, in the spellings that ad servers use. */
export function isTrue(text: string): boolean {
  return ["true", "TRUE", "True", "1"].includes(text);
}
