import { setImmediate } from "node:timers/promises";
import type { VastReason } from "@intermission/operator-api/vast-reasons";
import { SaxesParser } from "saxes";

export type Attributes = Readonly<Record<string, string>>;

/**
 * Reads one element. Without `child`, the text of its descendants counts as its own. Names of elements and attributes are in
 * lower case, since some ad servers write them so, and without the prefix of the root: `<vast:Ad>` of a `<vast:VAST>` is `ad`.
 */
export interface ElementReader {
  /** Returns the reader of a child; undefined skips the child with all its content. */
  child?(name: string, attributes: Attributes): ElementReader | undefined;
  /** Receives the text, trimmed, when the element ends; it is cut somewhere behind `MAX_TEXT_LENGTH`. */
  text?(text: string): void;
  end?(): void;
}

/** A document that is not well-formed, or exceeds a limit. */
export class XmlFault extends Error {
  override readonly name = "XmlFault";
  readonly reason: VastReason;

  constructor(reason: VastReason) {
    super(reason.kind);
    this.reason = reason;
  }
}

/** Parsing one slice takes about a millisecond. */
const SLICE_BYTES = 16 * 1024;
const MAX_ELEMENTS = 20_000;
const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 64;
const MAX_TEXT_LENGTH = 16 * 1024;
const MAX_MESSAGE_LENGTH = 200;

/** The turns of the event loop that this process gives to documents, one after the other. Opened once, since it has one event loop. */
export interface Turns {
  last: Promise<void>;
}

export const openTurns = (): Turns => ({ last: Promise.resolve() });

/**
 * Resolves in a later turn of the event loop, each call in a separate turn: work that is cut into pieces blocks other
 * requests for one piece at most, however many such tasks run at the same time.
 */
export function nextTurn(turns: Turns): Promise<void> {
  turns.last = turns.last.then(() => setImmediate());
  return turns.last;
}

/**
 * Reads a document in linear time, one slice in each turn of the event loop. Documents with a DOCTYPE are refused, so that no
 * entity is ever expanded. "blank": there is no element, and nothing else than blanks, comments and instructions. Throws an
 * XmlFault.
 */
export async function readXml(
  turns: Turns,
  bytes: Uint8Array,
  encoding: string,
  root: NonNullable<ElementReader["child"]>,
): Promise<"read" | "blank"> {
  const parser = new SaxesParser({ xmlns: false, position: false });
  const elements = readElements(parser, root);
  const decoder = new TextDecoder(encoding);
  let hasBegun = false;
  const write = (text: string) => {
    // Some ad servers send whitespace before the XML declaration.
    const rest = hasBegun ? text : text.trimStart();
    if (rest === "") return;
    if (!hasBegun && /^[{[]/.test(rest)) throw new XmlFault({ kind: "json" });
    hasBegun = true;
    parser.write(rest);
  };
  try {
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      await nextTurn(turns);
      write(decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true }));
    }
    write(decoder.decode());
    if (!elements.hasRoot) {
      // An element of ours is well-formed here only if no markup is unfinished: then the document is blank.
      elements.endsBlank = true;
      parser.write("<blank/>");
    }
    parser.close();
    return elements.endsBlank ? "blank" : "read";
  } catch (error) {
    // Other errors thrown by a reader are passed on.
    if (error instanceof Error && error.constructor === Error)
      throw new XmlFault({ kind: "malformed", detail: error.message.slice(0, MAX_MESSAGE_LENGTH) });
    throw error;
  }
}

interface ElementsRead {
  hasRoot: boolean;
  /** The next element is not the document's. */
  endsBlank: boolean;
}

function readElements(
  parser: SaxesParser<{ xmlns: false; position: false }>,
  root: NonNullable<ElementReader["child"]>,
): ElementsRead {
  const read: ElementsRead = { hasRoot: false, endsBlank: false };
  let prefix = "";
  const path: (ElementReader | undefined)[] = [];
  let elements = 0;
  let attributes = 0;
  let captured: { depth: number; text: string } | undefined;

  const keepText = (text: string) => {
    if (!captured || captured.text.length > MAX_TEXT_LENGTH) return;
    captured.text += captured.text === "" ? text.trimStart() : text;
  };
  parser.on("text", keepText);
  parser.on("cdata", keepText);
  parser.on("doctype", (doctype) => {
    const isPage = /^\s*html\b/i.test(doctype);
    throw new XmlFault({ kind: isPage ? "html-page" : "doctype" });
  });
  parser.on("opentagstart", () => {
    attributes = 0;
    if (++elements > MAX_ELEMENTS) throw new XmlFault({ kind: "too-many-elements", max: MAX_ELEMENTS });
    if (path.length >= MAX_DEPTH) throw new XmlFault({ kind: "too-deep", max: MAX_DEPTH });
  });
  parser.on("attribute", () => {
    if (++attributes > MAX_ATTRIBUTES) throw new XmlFault({ kind: "too-many-attributes", max: MAX_ATTRIBUTES });
  });
  parser.on("opentag", (tag) => {
    if (path.length === 0 && !read.endsBlank) {
      read.hasRoot = true;
      prefix = tag.name.slice(0, tag.name.indexOf(":") + 1);
    }
    const of = path.length === 0 ? (read.endsBlank ? undefined : root) : path.at(-1)?.child;
    const reader = of?.(localName(tag.name, prefix), lowerCased(tag.attributes));
    path.push(reader);
    if (reader?.text && !captured) captured = { depth: path.length, text: "" };
  });
  parser.on("closetag", () => {
    const reader = path.at(-1);
    if (captured?.depth === path.length) {
      const { text } = captured;
      captured = undefined;
      reader?.text?.(text.trim());
    }
    reader?.end?.();
    path.pop();
  });
  return read;
}

function localName(name: string, prefix: string): string {
  return (prefix !== "" && name.startsWith(prefix) ? name.slice(prefix.length) : name).toLowerCase();
}

const NO_ATTRIBUTES: Attributes = {};

/** If a name occurs in two spellings, the first counts. */
function lowerCased(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes);
  if (entries.length === 0) return NO_ATTRIBUTES;
  return Object.fromEntries(entries.toReversed().map(([name, value]) => [name.toLowerCase(), value]));
}
