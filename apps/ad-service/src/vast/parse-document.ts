import { type Attributes, type ElementReader, readXml, XmlFault } from "./read-xml.ts";
import {
  addCallableUrl,
  type DocumentAd,
  type DocumentCompanion,
  type DocumentLinear,
  type DocumentVerification,
  durationMsOf,
  isPictureType,
  isTrue,
  type LinearEvent,
  linearEvents,
  type MediaFile,
  numberOf,
  type VastDocument,
  type VastErrorCode,
} from "./vast-ad.ts";

/** Limit for one ad. */
const MOST_CREATIVES = 32;
const MOST_MEDIA_FILES = 100;
const MOST_VERIFICATIONS = 16;
const MOST_COMPANIONS = 32;
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
    CompanionAds() {
      addOther();
      return children({
        Companion: (attributes) =>
          ad.companions.length < MOST_COMPANIONS ? companionReader(ad.companions, attributes) : undefined,
      });
    },
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

function companionReader(companions: DocumentCompanion[], attributes: Attributes): ElementReader {
  const companion: DocumentCompanion = {
    imageUrl: "",
    width: numberOf(attributes.width),
    height: numberOf(attributes.height),
    renderingMode: nameOf(attributes.renderingMode),
    clickThrough: null,
    clickTrackingUrls: [],
    viewUrls: [],
  };
  return {
    ...children({
      StaticResource: ({ creativeType }) =>
        isPictureType(creativeType) ? textInto((url) => (companion.imageUrl ||= url)) : undefined,
      CompanionClickThrough: () => textInto((url) => (companion.clickThrough ??= url)),
      CompanionClickTracking: () => urlInto(companion.clickTrackingUrls),
      TrackingEvents: () =>
        children({ Tracking: ({ event }) => (event === "creativeView" ? urlInto(companion.viewUrls) : undefined) }),
    }),
    end() {
      if (companion.imageUrl !== "") companions.push(companion);
    },
  };
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

/** Why a document is unusable, or could not be fetched. */
export class VastFault extends Error {
  override readonly name = "VastFault";
  readonly code: VastErrorCode;

  constructor(code: VastErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const MOST_ADS = 32;

/** Reads an XML document whose root is `VAST`. Throws a VastFault. */
export async function parseDocument(bytes: Uint8Array): Promise<VastDocument> {
  const document: VastDocument = { majorVersion: 0, errorUrls: [], ads: [], hasAdOfNeitherKind: false };
  try {
    await readXml(bytes, (name, attributes) => {
      document.majorVersion = majorVersionOf(name, attributes.version);
      return children({
        Error: () => urlInto(document.errorUrls),
        Ad: (ofAd) => (document.ads.length < MOST_ADS ? adReader(document, ofAd) : undefined),
      });
    });
  } catch (error) {
    if (error instanceof XmlFault) throw new VastFault(100, error.message);
    throw error;
  }
  return document;
}

function majorVersionOf(root: string, version = ""): number {
  if (root === "VideoAdServingTemplate") throw new VastFault(102, "VAST 1.0");
  if (root !== "VAST") throw new VastFault(101, `the document is <${root.slice(0, LONGEST_NAME)}>`);
  const number = version.trim().slice(0, LONGEST_NAME);
  if (!/^([234](\.\d+)*)?$/.test(number)) throw new VastFault(102, `VAST ${number}`);
  return Number(number[0] ?? 0);
}

/** The first of `InLine` and `Wrapper` counts. A wrapper without a target is no ad. */
function adReader(document: VastDocument, ofAd: Attributes): ElementReader {
  let ad: DocumentAd | undefined;
  return {
    child(name, attributes) {
      if (ad || (name !== "InLine" && name !== "Wrapper")) return undefined;
      ad = emptyAd(ofAd, attributes);
      const { followAdditionalWrappers = "", allowMultipleAds = "" } = attributes;
      if (name === "Wrapper") {
        ad.wrapper = {
          tagUrl: "",
          followAdditionalWrappers: followAdditionalWrappers === "" || isTrue(followAdditionalWrappers),
          allowMultipleAds: isTrue(allowMultipleAds),
        };
      }
      return adContentReader(ad);
    },
    end() {
      if (!ad) document.hasAdOfNeitherKind = true;
      else if (ad.wrapper?.tagUrl !== "") document.ads.push(ad);
    },
  };
}

function emptyAd(ofAd: Attributes, ofContent: Attributes): DocumentAd {
  return {
    id: nameOf(ofAd.id || ofContent.id),
    sequence: numberOf(ofAd.sequence || ofContent.sequence),
    adSystem: null,
    advertiser: null,
    errorUrls: [],
    impressionUrls: [],
    creatives: [],
    verifications: [],
    companions: [],
    wrapper: undefined,
  };
}

function adContentReader(ad: DocumentAd): ElementReader {
  let isUriRead = false;
  const { wrapper } = ad;
  const verifications = () =>
    children({
      Verification: (attributes) => verificationReader(ad.verifications, attributes),
    });
  return children({
    Error: () => urlInto(ad.errorUrls),
    Impression: () => urlInto(ad.impressionUrls),
    AdSystem: () => textInto((text) => (ad.adSystem = nameOf(text))),
    Advertiser: () => textInto((text) => (ad.advertiser = nameOf(text))),
    Creatives() {
      ad.creatives = [];
      ad.companions = [];
      return children({ Creative: () => creativeReader(ad) });
    },
    AdVerifications: verifications,
    // Before VAST 4 they are in an extension.
    Extensions: () =>
      ad.verifications.length > 0
        ? undefined
        : children({ Extension: () => children({ AdVerifications: verifications }) }),
    ...(wrapper && {
      VASTAdTagURI() {
        if (isUriRead) return undefined;
        isUriRead = true;
        return textInto((text) => (wrapper.tagUrl = text));
      },
      VASTAdTagURL: () => children({ URL: () => textInto((text) => (wrapper.tagUrl ||= text)) }),
    }),
  });
}
