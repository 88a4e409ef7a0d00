import { addCallableUrl } from "./callable-urls.ts";
import type { Attributes, ElementReader } from "./read-xml.ts";
import {
  type DocumentAd,
  type DocumentLinear,
  type DocumentVerification,
  type LinearEvent,
  linearEvents,
  type MediaFile,
} from "./vast-document.ts";
import { durationMsOf, numberOf } from "./vast-values.ts";

/** Limit for one ad. */
const MOST_CREATIVES = 32;
const MOST_MEDIA_FILES = 100;
const MOST_VERIFICATIONS = 16;
export const LONGEST_NAME = 128;

type Readers = Record<string, (attributes: Attributes) => ElementReader | undefined>;

/** Reads children by their names; others are skipped. */
export function children(readers: Readers): ElementReader {
  return {
    child: (name, attributes) => (Object.hasOwn(readers, name) ? readers[name]?.(attributes) : undefined),
  };
}

export function creativeReader(ad: DocumentAd): ElementReader {
  const isFull = () => ad.creatives.length >= MOST_CREATIVES;
  const addOther = () => {
    if (!isFull()) ad.creatives.push({ kind: "other" });
    return undefined;
  };
  return children({
    Linear() {
      if (isFull()) return undefined;
      const linear: DocumentLinear = {
        kind: "linear",
        durationMs: undefined,
        mediaFiles: [],
        clickThrough: null,
        clickTrackingUrls: [],
        trackingUrls: {},
      };
      ad.creatives.push(linear);
      return linearReader(linear);
    },
    NonLinearAds: addOther,
    CompanionAds: addOther,
  });
}

/** If an element that may occur once is repeated, the first counts. */
function linearReader(linear: DocumentLinear): ElementReader {
  let isDurationRead = false;
  let areClicksRead = false;
  return children({
    Duration() {
      if (isDurationRead) return undefined;
      isDurationRead = true;
      return textInto((text) => (linear.durationMs = durationMsOf(text)));
    },
    VideoClicks() {
      if (areClicksRead) return undefined;
      areClicksRead = true;
      return children({
        ClickThrough: () =>
          linear.clickThrough === null ? textInto((text) => (linear.clickThrough ??= text)) : undefined,
        ClickTracking: () => urlInto(linear.clickTrackingUrls),
      });
    },
    TrackingEvents: () =>
      children({
        Tracking({ event = "" }) {
          if (!isLinearEvent(event)) return undefined;
          linear.trackingUrls[event] ??= [];
          return urlInto(linear.trackingUrls[event]);
        },
      }),
    MediaFiles: () =>
      children({
        MediaFile: (attributes) =>
          linear.mediaFiles.length < MOST_MEDIA_FILES ? mediaFileReader(linear.mediaFiles, attributes) : undefined,
      }),
  });
}

function mediaFileReader(files: MediaFile[], attributes: Attributes): ElementReader {
  return textInto((fileUrl) => {
    files.push({
      fileUrl,
      delivery: nameOf(attributes.delivery),
      mimeType: nameOf(attributes.type),
      codec: nameOf(attributes.codec),
      apiFramework: nameOf(attributes.apiFramework),
      bitrate: numberOf(attributes.bitrate),
      width: numberOf(attributes.width),
      height: numberOf(attributes.height),
    });
  });
}

export function verificationReader(
  verifications: DocumentVerification[],
  attributes: Attributes,
): ElementReader | undefined {
  if (verifications.length >= MOST_VERIFICATIONS) return undefined;
  const verification: DocumentVerification = {
    vendor: nameOf(attributes.vendor),
    apiFramework: nameOf(attributes.apiFramework),
    resource: null,
    parameters: null,
    notExecutedUrls: [],
  };
  verifications.push(verification);
  const resource = (ofResource: Attributes) => {
    verification.apiFramework = nameOf(ofResource.apiFramework) ?? verification.apiFramework;
    return textInto((text) => (verification.resource = text));
  };
  return children({
    JavaScriptResource: resource,
    ExecutableResource: resource,
    VerificationParameters: () => textInto((text) => (verification.parameters = text)),
    TrackingEvents: () =>
      children({
        Tracking: ({ event }) =>
          event === "verificationNotExecuted" ? urlInto(verification.notExecutedUrls) : undefined,
      }),
  });
}

export function textInto(keep: (text: string) => void): ElementReader {
  return { text: keep };
}

export function urlInto(urls: string[]): ElementReader {
  return { text: (url) => addCallableUrl(urls, url) };
}

function isLinearEvent(event: string): event is LinearEvent {
  return (linearEvents as readonly string[]).includes(event);
}

export function nameOf(text: string | undefined): string | null {
  const name = text?.trim().slice(0, LONGEST_NAME) ?? "";
  return name === "" ? null : name;
}
