import {
  children,
  creativeReader,
  LONGEST_NAME,
  nameOf,
  textInto,
  urlInto,
  verificationReader,
} from "./creative-readers.ts";
import { type Attributes, type ElementReader, readXml, XmlFault } from "./read-xml.ts";
import type { VastErrorCode } from "./vast-ad.ts";
import type { DocumentAd, VastDocument } from "./vast-document.ts";
import { isTrue, numberOf } from "./vast-values.ts";

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
