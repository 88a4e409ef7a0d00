import { DOMParser, type Document, onErrorStopParsing } from "@xmldom/xmldom";
import type { VastErrorCode } from "./vast-ad.ts";

/** Why a document, or the way to it, is of no use. */
export class VastFault extends Error {
  override readonly name = "VastFault";
  readonly code: VastErrorCode;

  constructor(code: VastErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const utf8 = new TextDecoder();

/** An XML document whose root is `VAST`. No entities of its own are expanded. Throws a VastFault. */
export function parseDocument(bytes: Uint8Array): Document {
  const document = parseXml(utf8.decode(bytes).trim());
  const root = document.documentElement;
  if (root?.nodeName === "VideoAdServingTemplate") throw new VastFault(102, "VAST 1.0");
  if (root?.nodeName !== "VAST") throw new VastFault(101, `the document is <${root?.nodeName ?? ""}>`);
  const version = root.getAttribute("version") ?? "";
  if (!/^([234](\.\d+)*)?$/.test(version.trim())) throw new VastFault(102, `VAST ${version}`);
  // The library would ask a browser's page for the scheme.
  for (const tag of Array.from(document.getElementsByTagName("VASTAdTagURI"))) {
    const address = tag.textContent?.trim() ?? "";
    if (address.startsWith("//")) tag.textContent = `https:${address}`;
  }
  return document;
}

function parseXml(text: string): Document {
  try {
    return new DOMParser({ onError: onErrorStopParsing }).parseFromString(text, "text/xml");
  } catch (error) {
    // Too deep a nesting is a RangeError.
    throw new VastFault(100, error instanceof Error ? error.message.slice(0, 200) : "no XML");
  }
}
