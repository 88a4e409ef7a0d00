/** What is read of a VAST document, with bounded lists; nothing of it is judged yet. */
export interface VastDocument {
  /** 2, 3 or 4; 0 where the document does not say. */
  majorVersion: number;
  errorUrls: string[];
  ads: DocumentAd[];
  /** An `Ad` is neither `InLine` nor `Wrapper`: the document breaks the schema. */
  hasAdOfNeitherKind: boolean;
}

export interface DocumentAd {
  id: string | null;
  /** Its place in an ad pod; 0 for an ad that stands alone. */
  sequence: number;
  adSystem: string | null;
  advertiser: string | null;
  errorUrls: string[];
  impressionUrls: string[];
  creatives: DocumentCreative[];
  verifications: DocumentVerification[];
  /** Undefined: it is an InLine ad. */
  wrapper: DocumentWrapper | undefined;
}

export interface DocumentWrapper {
  tagUrl: string;
  followAdditionalWrappers: boolean;
  allowMultipleAds: boolean;
}

/** A creative of another kind than linear is known by nothing but that it is there. */
export type DocumentCreative = DocumentLinear | { kind: "other" };

export interface DocumentLinear {
  kind: "linear";
  durationMs: number | undefined;
  mediaFiles: MediaFile[];
  /** Null: there is no element; empty: the element is empty. */
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
  /** kbit/s; 0 where the ad does not say. */
  bitrate: number;
  /** 0 where the ad does not say. */
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
