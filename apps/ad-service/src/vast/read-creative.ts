import { type Drops, drop } from "./drops.ts";
import type { Attributes, ElementReader } from "./read-xml.ts";
import {
  addCallableUrl,
  type DocumentAd,
  type DocumentCompanion,
  type DocumentLinear,
  type DocumentVerification,
  durationMsOf,
  isPictureType,
  type LinearEvent,
  linearEvents,
  numberOf,
  resolveAddress,
} from "./vast-ad.ts";

/** Limit for one ad. */
const MAX_CREATIVES = 32;
const MAX_MEDIA_FILES = 100;
const MAX_VERIFICATIONS = 16;
const MAX_COMPANIONS = 32;
export const MAX_NAME_LENGTH = 128;

/** The document that is read. */
export interface Reading {
  /** Its own address, against which its addresses are resolved; without it, relative ones count as invalid. */
  url: string | undefined;
  drops: Drops;
}

type Readers = Record<string, (attributes: Attributes) => ElementReader | undefined>;

/** Reads children by their names in lower case; others are skipped. */
export function children(readers: Readers): ElementReader {
  return {
    child: (name, attributes) => (Object.hasOwn(readers, name) ? readers[name]?.(attributes) : undefined),
  };
}

export function creativeReader(reading: Reading, ad: DocumentAd): ElementReader {
  const { drops } = reading;
  const isFull = () => {
    const isAtLimit = ad.creatives.length >= MAX_CREATIVES;
    if (isAtLimit) drop(drops, "limit");
    return isAtLimit;
  };
  const addOther = () => {
    if (!isFull()) ad.creatives.push({ kind: "other" });
    return undefined;
  };
  return children({
    linear() {
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
      return linearReader(reading, linear);
    },
    nonlinearads: addOther,
    companionads() {
      addOther();
      return children({
        companion(attributes) {
          if (ad.companions.length < MAX_COMPANIONS) return companionReader(reading, ad.companions, attributes);
          drop(drops, "limit");
          return undefined;
        },
      });
    },
  });
}

/** If an element that may occur once is repeated, the first counts. */
function linearReader(reading: Reading, linear: DocumentLinear): ElementReader {
  const { drops } = reading;
  let isDurationRead = false;
  let areClicksRead = false;
  return children({
    duration() {
      if (isDurationRead) return undefined;
      isDurationRead = true;
      return textInto((text) => (linear.durationMs = durationMsOf(text)));
    },
    videoclicks() {
      if (areClicksRead) return undefined;
      areClicksRead = true;
      return children({
        clickthrough: () =>
          linear.clickThrough === null ? clickThroughInto(reading, (url) => (linear.clickThrough ??= url)) : undefined,
        clicktracking: () => urlInto(reading, linear.clickTrackingUrls),
      });
    },
    trackingevents: () =>
      children({
        tracking({ event = "" }) {
          const known = linearEventOf(event);
          if (!known) return undefined;
          linear.trackingUrls[known] ??= [];
          return urlInto(reading, linear.trackingUrls[known]);
        },
      }),
    mediafiles: () =>
      children({
        mediafile(attributes) {
          if (linear.mediaFiles.length < MAX_MEDIA_FILES) return mediaFileReader(reading, linear, attributes);
          drop(drops, "limit");
          return undefined;
        },
        interactivecreativefile() {
          drop(drops, "media-script");
          return undefined;
        },
        closedcaptionfiles: () =>
          children({
            closedcaptionfile() {
              drop(drops, "captions");
              return undefined;
            },
          }),
      }),
  });
}

function mediaFileReader({ url }: Reading, { mediaFiles }: DocumentLinear, attributes: Attributes): ElementReader {
  return textInto((text) => {
    mediaFiles.push({
      fileUrl: resolveAddress(text, url) ?? text,
      delivery: nameOf(attributes.delivery),
      mimeType: nameOf(attributes.type),
      codec: nameOf(attributes.codec),
      apiFramework: nameOf(attributes.apiframework),
      bitrate: numberOf(attributes.bitrate),
      width: numberOf(attributes.width),
      height: numberOf(attributes.height),
    });
  });
}

function companionReader(reading: Reading, companions: DocumentCompanion[], attributes: Attributes): ElementReader {
  const { url: base, drops } = reading;
  const companion: DocumentCompanion = {
    imageUrl: "",
    width: numberOf(attributes.width),
    height: numberOf(attributes.height),
    renderingMode: nameOf(attributes.renderingmode),
    clickThrough: null,
    clickTrackingUrls: [],
    viewUrls: [],
  };
  return {
    ...children({
      staticresource: ({ creativetype }) =>
        isPictureType(creativetype)
          ? textInto((text) => (companion.imageUrl ||= resolveAddress(text, base) ?? text))
          : undefined,
      companionclickthrough: () => clickThroughInto(reading, (url) => (companion.clickThrough ??= url)),
      companionclicktracking: () => urlInto(reading, companion.clickTrackingUrls),
      trackingevents: () =>
        children({
          tracking: ({ event = "" }) =>
            linearEventOf(event) === "creativeView" ? urlInto(reading, companion.viewUrls) : undefined,
        }),
    }),
    end() {
      if (companion.imageUrl !== "") companions.push(companion);
      else drop(drops, "companion");
    },
  };
}

export function verificationReader(
  reading: Reading,
  verifications: DocumentVerification[],
  attributes: Attributes,
): ElementReader | undefined {
  if (verifications.length >= MAX_VERIFICATIONS) return undefined;
  const verification: DocumentVerification = {
    vendor: nameOf(attributes.vendor),
    apiFramework: nameOf(attributes.apiframework),
    resource: null,
    parameters: null,
    notExecutedUrls: [],
  };
  verifications.push(verification);
  const resource = (ofResource: Attributes) => {
    verification.apiFramework = nameOf(ofResource.apiframework) ?? verification.apiFramework;
    return textInto((text) => (verification.resource = text));
  };
  return children({
    javascriptresource: resource,
    executableresource: resource,
    verificationparameters: () => textInto((text) => (verification.parameters = text)),
    trackingevents: () =>
      children({
        tracking: ({ event = "" }) =>
          event.trim().toLowerCase() === "verificationnotexecuted"
            ? urlInto(reading, verification.notExecutedUrls)
            : undefined,
      }),
  });
}

export function textInto(keep: (text: string) => void): ElementReader {
  return { text: keep };
}

/** Adds the address of a tracker. An empty element is legal and means none. */
export function urlInto({ url, drops }: Reading, urls: string[]): ElementReader {
  return textInto((text) => {
    if (text === "") return;
    const address = resolveAddress(text, url);
    if (address === undefined) drop(drops, "tracker-address");
    else if (!addCallableUrl(urls, address)) drop(drops, "limit");
  });
}

/** Keeps the address of a landing page; an empty text stands for one that is none. */
function clickThroughInto({ url, drops }: Reading, keep: (address: string) => void): ElementReader {
  return textInto((text) => {
    const address = resolveAddress(text, url);
    if (address === undefined && text !== "") drop(drops, "click-address");
    keep(address ?? "");
  });
}

const eventsByName = new Map(linearEvents.map((event) => [event.toLowerCase(), event]));

function linearEventOf(event: string): LinearEvent | undefined {
  return eventsByName.get(event.trim().toLowerCase());
}

export function nameOf(text: string | undefined): string | null {
  // PostgreSQL stores no half of a surrogate pair in JSON: the view could not begin.
  const name =
    text
      ?.trim()
      .slice(0, MAX_NAME_LENGTH)
      .replace(/[\ud800-\udbff]$/, "") ?? "";
  return name === "" ? null : name;
}
