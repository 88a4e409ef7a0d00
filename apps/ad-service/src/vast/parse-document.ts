import type { VastReason } from "@intermission/operator-api/vast-reasons";
import { vastReasonsInEnglish, vastReasonText } from "@intermission/operator-api/vast-reasons-in-english";
import { encodingOf } from "./decode-document.ts";
import { type Drops, drop } from "./drops.ts";
import {
  children,
  creativeReader,
  MAX_NAME_LENGTH,
  nameOf,
  type Reading,
  textInto,
  urlInto,
  verificationReader,
} from "./read-creative.ts";
import { type Attributes, type ElementReader, readXml, type Turns, XmlFault } from "./read-xml.ts";
import { readElement } from "./used-attributes.ts";
import {
  type DocumentAd,
  type DocumentCategory,
  isTrue,
  numberOf,
  resolveAddress,
  type VastDocument,
} from "./vast-ad.ts";

/** Why a document is unusable, or could not be fetched. */
export class VastFault extends Error {
  override readonly name = "VastFault";
  readonly reason: VastReason;

  constructor(reason: VastReason) {
    super(vastReasonText(vastReasonsInEnglish, reason));
    this.reason = reason;
  }
}

const MAX_ADS = 32;

/** Where a document came from. */
interface DocumentSource {
  /** Its address after redirects. */
  url?: string;
  contentType?: string | undefined;
  drops?: Drops;
}

/** Reads an XML document whose root is `VAST`. Throws a VastFault. */
export async function parseDocument(
  turns: Turns,
  bytes: Uint8Array,
  { url, contentType, drops = {} }: DocumentSource = {},
): Promise<VastDocument> {
  const document: VastDocument = { majorVersion: 0, errorUrls: [], ads: [], hasAdOfNeitherKind: false };
  const reading: Reading = { url, drops };
  const read = await readXml(turns, bytes, encodingOf(bytes, contentType), (name, attributes) => {
    document.majorVersion = majorVersionOf(name, attributes.version);
    return readElement(drops, { name, attributes }, () =>
      children(reading, {
        error: () => urlInto(reading, document.errorUrls),
        ad(ofAd) {
          if (document.ads.length < MAX_ADS) return adReader(reading, document, ofAd);
          drop(drops, "limit");
          return undefined;
        },
      }),
    );
  }).catch((error: unknown) => {
    if (error instanceof XmlFault) throw new VastFault(error.reason);
    throw error;
  });
  if (read === "blank") throw new VastFault({ kind: "blank" });
  return document;
}

function majorVersionOf(root: string, version = ""): number {
  if (root === "videoadservingtemplate") throw new VastFault({ kind: "version", version: "1.0" });
  if (root === "vmap") throw new VastFault({ kind: "vmap" });
  if (root !== "vast") throw new VastFault({ kind: "other-root", root: root.slice(0, MAX_NAME_LENGTH) });
  const number = version.trim().slice(0, MAX_NAME_LENGTH);
  if (!/^([234](\.\d+)*)?$/.test(number)) throw new VastFault({ kind: "version", version: number });
  return Number(number[0] ?? 0);
}

/** The first of `InLine` and `Wrapper` counts. A wrapper without an address is an ad that fails. */
function adReader(reading: Reading, document: VastDocument, ofAd: Attributes): ElementReader {
  let ad: DocumentAd | undefined;
  return {
    child(name, attributes) {
      if (ad || (name !== "inline" && name !== "wrapper")) {
        drop(reading.drops, "element");
        return undefined;
      }
      return readElement(reading.drops, { name, attributes }, (used) => {
        ad = emptyAd(ofAd, used);
        const { followadditionalwrappers: follows = "", allowmultipleads: allows = "" } = used;
        if (name === "wrapper") {
          ad.wrapper = {
            tagUrl: "",
            followAdditionalWrappers: follows === "" || isTrue(follows),
            allowMultipleAds: isTrue(allows),
          };
        }
        return adContentReader(reading, ad);
      });
    },
    end() {
      if (!ad) document.hasAdOfNeitherKind = true;
      else document.ads.push(ad);
    },
  };
}

function emptyAd(ofAd: Attributes, ofContent: Attributes): DocumentAd {
  return {
    id: nameOf(ofAd.id || ofContent.id),
    sequence: numberOf(ofAd.sequence || ofContent.sequence),
    adSystem: null,
    advertiser: null,
    title: null,
    errorUrls: [],
    impressionUrls: [],
    viewableUrls: [],
    creatives: [],
    verifications: [],
    companions: [],
    companionsRequired: "none",
    companionCount: 0,
    adServingId: null,
    universalAdIds: [],
    categories: [],
    blockedCategories: [],
    expiresSeconds: undefined,
    wrapper: undefined,
  };
}

function adContentReader(reading: Reading, ad: DocumentAd): ElementReader {
  let isUriRead = false;
  const { wrapper } = ad;
  const { url } = reading;
  const verifications = () =>
    children(reading, {
      verification: (attributes) => verificationReader(reading, ad.verifications, attributes),
    });
  return children(reading, {
    error: () => urlInto(reading, ad.errorUrls),
    impression: () => urlInto(reading, ad.impressionUrls),
    viewableimpression: () => children(reading, { viewable: () => urlInto(reading, ad.viewableUrls) }),
    adsystem: () => textInto((text) => (ad.adSystem = nameOf(text))),
    advertiser: () => textInto((text) => (ad.advertiser = nameOf(text))),
    adservingid: () => textInto((text) => (ad.adServingId = nameOf(text))),
    category: ({ authority }) => categoriesInto(ad.categories, authority),
    blockedadcategories: ({ authority }) => categoriesInto(ad.blockedCategories, authority),
    expires: () => textInto((text) => (ad.expiresSeconds = /^\d{1,9}$/.test(text) ? Number(text) : undefined)),
    adtitle: () => textInto((text) => (ad.title = nameOf(text))),
    creatives() {
      ad.creatives = [];
      ad.companions = [];
      ad.companionsRequired = "none";
      ad.companionCount = 0;
      ad.universalAdIds = [];
      return children(reading, { creative: () => creativeReader(reading, ad) });
    },
    adverifications: verifications,
    // Before VAST 4 they are in an extension.
    extensions: () =>
      ad.verifications.length > 0
        ? undefined
        : children(reading, { extension: () => children(reading, { adverifications: verifications }) }),
    ...(wrapper && {
      vastadtaguri() {
        if (isUriRead) return undefined;
        isUriRead = true;
        return textInto((text) => (wrapper.tagUrl = resolveAddress(text, url) ?? text));
      },
      vastadtagurl: () =>
        children(reading, { url: () => textInto((text) => (wrapper.tagUrl ||= resolveAddress(text, url) ?? text)) }),
    }),
  });
}

const MAX_CATEGORIES = 64;

/** One code, or several with commas between them. */
function categoriesInto(categories: DocumentCategory[], authority: string | undefined): ElementReader {
  return textInto((text) => {
    for (const code of text.split(",")) {
      const named = nameOf(code);
      if (named !== null && categories.length < MAX_CATEGORIES)
        categories.push({ authority: nameOf(authority), code: named });
    }
  });
}
