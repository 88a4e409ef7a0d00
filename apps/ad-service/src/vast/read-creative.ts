import { webForm } from "@intermission/ad-core/telegram-link";
import { unescapedAddress } from "@intermission/ad-core/web-address";
import { storableText } from "@intermission/postgres/storable-text";
import { type Drops, drop } from "./drops.ts";
import type { Attributes, ElementReader } from "./read-xml.ts";
import { readElement } from "./used-attributes.ts";
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
/** Limit for one creative. */
export const MAX_PROGRESS = 32;
export const MAX_NAME_LENGTH = 128;

/** The document that is read. */
export interface Reading {
  /** Its own address, against which its addresses are resolved; without it, relative ones count as invalid. */
  url: string | undefined;
  drops: Drops;
}

type Readers = Record<string, (attributes: Attributes) => ElementReader | undefined>;

/** Reads children by their names in lower case; others are skipped, and counted. */
export function children({ drops }: Pick<Reading, "drops">, readers: Readers): ElementReader {
  return {
    child(name, attributes) {
      const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
      if (read) return readElement(drops, { name, attributes }, read);
      drop(drops, "element");
      return undefined;
    },
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
  return children(reading, {
    linear() {
      if (isFull()) return undefined;
      const linear: DocumentLinear = {
        kind: "linear",
        durationMs: undefined,
        mediaFiles: [],
        clickThrough: null,
        clickTrackingUrls: [],
        trackingUrls: {},
        progressUrls: [],
      };
      ad.creatives.push(linear);
      return linearReader(reading, linear);
    },
    nonlinearads() {
      drop(drops, "element");
      return addOther();
    },
    universaladid: ({ idregistry, idvalue }) =>
      textInto((text) => {
        const id = nameOf(text) ?? nameOf(idvalue);
        const named = id && `${nameOf(idregistry) ?? "unknown"} ${id}`;
        if (named && ad.universalAdIds.length < MAX_CREATIVES) ad.universalAdIds.push(named);
      }),
    companionads({ required = "" }) {
      addOther();
      const requirement = required.trim().toLowerCase();
      if (requirement === "all" || (requirement === "any" && ad.companionsRequired === "none"))
        ad.companionsRequired = requirement;
      return children(reading, {
        companion(attributes) {
          ad.companionCount += 1;
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
  return children(reading, {
    duration() {
      if (isDurationRead) return undefined;
      isDurationRead = true;
      return textInto((text) => (linear.durationMs = durationMsOf(text)));
    },
    videoclicks() {
      if (areClicksRead) return undefined;
      areClicksRead = true;
      return children(reading, {
        clickthrough: () =>
          linear.clickThrough === null ? clickThroughInto(reading, (url) => (linear.clickThrough ??= url)) : undefined,
        clicktracking: () => urlInto(reading, linear.clickTrackingUrls),
      });
    },
    trackingevents: () =>
      children(reading, {
        tracking({ event = "", offset }) {
          if (event.trim().toLowerCase() === "progress" && offset !== undefined) {
            return progressInto(reading, linear, offset);
          }
          const known = linearEventOf(event);
          if (!known) {
            drop(drops, "event");
            return undefined;
          }
          linear.trackingUrls[known] ??= [];
          return urlInto(reading, linear.trackingUrls[known]);
        },
      }),
    mediafiles: () =>
      children(reading, {
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
          children(reading, {
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
    ...children(reading, {
      staticresource: ({ creativetype }) =>
        isPictureType(creativetype)
          ? textInto((text) => (companion.imageUrl ||= resolveAddress(text, base) ?? text))
          : undefined,
      companionclickthrough: () => clickThroughInto(reading, (url) => (companion.clickThrough ??= url)),
      companionclicktracking: () => urlInto(reading, companion.clickTrackingUrls),
      trackingevents: () =>
        children(reading, {
          tracking({ event = "" }) {
            if (linearEventOf(event) === "creativeView") return urlInto(reading, companion.viewUrls);
            drop(drops, "event");
            return undefined;
          },
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
  if (verifications.length >= MAX_VERIFICATIONS) {
    drop(reading.drops, "limit");
    return undefined;
  }
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
  return children(reading, {
    javascriptresource: resource,
    executableresource: resource,
    verificationparameters: () => textInto((text) => (verification.parameters = text)),
    trackingevents: () =>
      children(reading, {
        tracking({ event = "" }) {
          if (event.trim().toLowerCase() === "verificationnotexecuted") {
            return urlInto(reading, verification.notExecutedUrls);
          }
          drop(reading.drops, "event");
          return undefined;
        },
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

function progressInto({ url: base, drops }: Reading, linear: DocumentLinear, offset: string): ElementReader {
  return textInto((text) => {
    if (text === "") return;
    const url = resolveAddress(text, base);
    if (url === undefined) drop(drops, "tracker-address");
    else if (linear.progressUrls.length >= MAX_PROGRESS) drop(drops, "limit");
    else linear.progressUrls.push({ offset: offset.slice(0, MAX_NAME_LENGTH), url });
  });
}

/** Keeps the address of a landing page; an empty text stands for one that is none. */
function clickThroughInto({ url, drops }: Reading, keep: (address: string) => void): ElementReader {
  return textInto((text) => {
    const address = resolveAddress(webForm(unescapedAddress(text)) ?? text, url);
    if (address === undefined && text !== "") drop(drops, "click-address");
    keep(address ?? "");
  });
}

/** Before VAST 4, the player's size had other names. */
const formerNames = { fullscreen: "playerExpand", expand: "playerExpand" } satisfies Record<string, LinearEvent>;
const eventsByName = new Map<string, LinearEvent>([
  ...linearEvents.map((event) => [event.toLowerCase(), event] as const),
  ...Object.entries(formerNames),
]);

function linearEventOf(event: string): LinearEvent | undefined {
  return eventsByName.get(event.trim().toLowerCase());
}

export function nameOf(text: string | undefined): string | null {
  const name = storableText(text?.trim() ?? "", MAX_NAME_LENGTH);
  return name === "" ? null : name;
}
