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

export interface DocumentVerification {
  vendor: string | null;
  apiFramework: string | null;
  resource: string | null;
  parameters: string | null;
  notExecutedUrls: string[];
}
