import { setImmediate } from "node:timers/promises";
import { SaxesParser } from "saxes";

export type Attributes = Readonly<Record<string, string>>;

/** Reads one element. Without `child`, the text of its descendants counts as its own. */
export interface ElementReader {
  /** Returns the reader of a child; undefined skips the child with all its content. */
  child?(name: string, attributes: Attributes): ElementReader | undefined;
  /** Receives the whole text, trimmed, when the element ends; an empty text if it exceeds `LONGEST_TEXT`. */
  text?(text: string): void;
  end?(): void;
}

/** A document that is not well-formed, or exceeds a limit. */
export class XmlFault extends Error {
  override readonly name = "XmlFault";
}

/** Parsing one slice takes about a millisecond. */
const SLICE_BYTES = 16 * 1024;
const MOST_ELEMENTS = 20_000;
const MOST_DEPTH = 64;
const MOST_ATTRIBUTES = 64;
const LONGEST_TEXT = 16 * 1024;
const LONGEST_MESSAGE = 200;

/** Module-level, because the whole process shares the event loop. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Resolves in a later turn of the event loop, each call in a separate turn: work that is cut into pieces blocks other
 * requests for one piece at most, however many such tasks run at the same time.
 */
export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

/**
 * Reads a UTF-8 document in linear time, one slice in each turn of the event loop. Documents with a DOCTYPE are refused,
 * so that no entity is ever expanded. Throws an XmlFault.
 */
export async function readXml(bytes: Uint8Array, root: NonNullable<ElementReader["child"]>): Promise<void> {
  const parser = new SaxesParser({ xmlns: false, position: false });
  readElements(parser, root);
  const decoder = new TextDecoder();
  let hasBegun = false;
  const write = (text: string) => {
    // Some ad servers send whitespace before the XML declaration.
    const rest = hasBegun ? text : text.trimStart();
    if (rest === "") return;
    hasBegun = true;
    parser.write(rest);
  };
  try {
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      await nextTurn();
      write(decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true }));
    }
    write(decoder.decode());
    parser.close();
  } catch (error) {
    // Other errors thrown by a reader are passed on.
    if (error instanceof Error && error.constructor === Error)
      throw new XmlFault(error.message.slice(0, LONGEST_MESSAGE));
    throw error;
  }
}

function readElements(
  parser: SaxesParser<{ xmlns: false; position: false }>,
  root: NonNullable<ElementReader["child"]>,
) {
  const path: (ElementReader | undefined)[] = [];
  let elements = 0;
  let attributes = 0;
  let captured: { depth: number; text: string } | undefined;

  const keepText = (text: string) => {
    if (!captured || captured.text.length > LONGEST_TEXT) return;
    captured.text += captured.text === "" ? text.trimStart() : text;
  };
  parser.on("text", keepText);
  parser.on("cdata", keepText);
  parser.on("doctype", () => {
    throw new XmlFault("a DOCTYPE is refused");
  });
  parser.on("opentagstart", () => {
    attributes = 0;
    if (++elements > MOST_ELEMENTS) throw new XmlFault(`more than ${MOST_ELEMENTS} elements`);
    if (path.length >= MOST_DEPTH) throw new XmlFault(`elements are nested more than ${MOST_DEPTH} deep`);
  });
  parser.on("attribute", () => {
    if (++attributes > MOST_ATTRIBUTES) throw new XmlFault(`an element has more than ${MOST_ATTRIBUTES} attributes`);
  });
  parser.on("opentag", (tag) => {
    const reader = path.length === 0 ? root(tag.name, tag.attributes) : path.at(-1)?.child?.(tag.name, tag.attributes);
    path.push(reader);
    if (reader?.text && !captured) captured = { depth: path.length, text: "" };
  });
  parser.on("closetag", () => {
    const reader = path.at(-1);
    if (captured?.depth === path.length) {
      const { text } = captured;
      captured = undefined;
      reader?.text?.(text.length > LONGEST_TEXT ? "" : text.trim());
    }
    reader?.end?.();
    path.pop();
  });
}
