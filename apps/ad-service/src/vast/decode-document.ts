import { promisify } from "node:util";
import {
  brotliDecompress,
  constants,
  gunzip,
  type InputType,
  inflate,
  inflateRaw,
  type ZlibOptions,
  zstdDecompress,
} from "node:zlib";
import type { VastReason } from "@intermission/operator-api/vast-reasons";

/** What an ad server sent, with the headers that describe it. */
interface SentDocument {
  body: Uint8Array;
  contentType: string | undefined;
  contentEncoding: string | undefined;
}

type DecodedContent =
  | { outcome: "decoded"; body: Uint8Array }
  | { outcome: "too-large" }
  | { outcome: "undecodable"; reason: Extract<VastReason, { encoding: string }> };

type Decoder = (bytes: InputType, options: ZlibOptions) => Promise<Uint8Array>;

/** RFC 9110, 8.4.1: `x-gzip` equals `gzip`, and `deflate` is zlib's format; some servers send it without its header. */
const decoders = {
  gzip: promisify(gunzip) as Decoder,
  "x-gzip": promisify(gunzip) as Decoder,
  deflate: (bytes, options) => (promisify(inflate) as Decoder)(bytes, options).catch(rawAfter(bytes, options)),
  br: promisify(brotliDecompress) as unknown as Decoder,
  zstd: promisify(zstdDecompress) as unknown as Decoder,
} satisfies Record<string, Decoder>;

/** More than one occurs where a proxy compresses what its origin has compressed. */
const MAX_CODINGS = 3;
const MAX_CODING_LENGTH = 40;
const GZIP_MAGIC = [0x1f, 0x8b];

/**
 * Undoes the content codings of an answer, which some servers apply although the request accepts none. No step returns more
 * than `maxBytes`. A header that the bytes contradict is ignored: plain XML that is declared compressed, or the reverse.
 */
export async function decodeContent(
  { body, contentEncoding = "" }: Pick<SentDocument, "body" | "contentEncoding">,
  { maxBytes }: { maxBytes: number },
): Promise<DecodedContent> {
  const codings = contentEncoding
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  let bytes = body;
  for (const coding of codings.slice(-MAX_CODINGS).toReversed()) {
    const decoded = await decode(coding, bytes, maxBytes);
    if (decoded.outcome === "undecodable" && isMarkup(bytes)) break;
    if (decoded.outcome !== "decoded") return decoded;
    bytes = decoded.body;
  }
  return isGzip(bytes) ? decode("gzip", bytes, maxBytes) : { outcome: "decoded", body: bytes };
}

async function decode(coding: string, bytes: Uint8Array, maxBytes: number): Promise<DecodedContent> {
  if (!Object.hasOwn(decoders, coding))
    return {
      outcome: "undecodable",
      reason: { kind: "unknown-encoding", encoding: coding.slice(0, MAX_CODING_LENGTH) },
    };
  try {
    return { outcome: "decoded", body: await decoders[coding as keyof typeof decoders](bytes, limits(maxBytes)) };
  } catch (error) {
    if (isTooLarge(error)) return { outcome: "too-large" };
    return { outcome: "undecodable", reason: { kind: "invalid-encoding", encoding: coding } };
  }
}

function limits(maxBytes: number): ZlibOptions {
  return { maxOutputLength: maxBytes };
}

function rawAfter(bytes: InputType, options: ZlibOptions) {
  return (error: unknown): Promise<Uint8Array> => {
    const isFormat = error instanceof Error && "errno" in error && error.errno === constants.Z_DATA_ERROR;
    if (!isFormat) throw error;
    return (promisify(inflateRaw) as Decoder)(bytes, options);
  };
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

function isGzip(bytes: Uint8Array): boolean {
  return GZIP_MAGIC.every((byte, index) => bytes[index] === byte);
}

const LOOKED_AT = 1024;

/** Whether the bytes begin as markup: no compressed data that can be decoded begins with `<`. */
function isMarkup(bytes: Uint8Array): boolean {
  return new TextDecoder(encodingOf(bytes, undefined)).decode(bytes.subarray(0, LOOKED_AT)).trimStart().startsWith("<");
}

/**
 * The encoding of an XML document, in the order of RFC 7303, 3: its byte order mark, the header's charset, its XML
 * declaration; else UTF-8. Unknown names are skipped. A document whose `<` takes one byte is not UTF-16, whatever it
 * declares: programs declare the encoding of their own strings.
 */
export function encodingOf(bytes: Uint8Array, contentType: string | undefined): string {
  const marked = byMark(bytes);
  if (marked) return marked;
  const width = widthOf(bytes);
  if (width !== undefined) return width;
  const declared = [charsetOf(contentType), declaredEncoding(bytes)].flatMap((label) => knownEncoding(label) ?? []);
  return declared.find((encoding) => !encoding.startsWith("utf-16")) ?? "utf-8";
}

function byMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** XML 1.0, F.1: a document without a mark begins with `<` or a blank, so its first two bytes show the order. */
function widthOf([first, second]: Uint8Array): string | undefined {
  if (first === 0 && second) return "utf-16be";
  return first && second === 0 ? "utf-16le" : undefined;
}

const CHARSET = /;\s*charset\s*=\s*["']?\s*([\w.:+-]{1,40})/i;

function charsetOf(contentType = ""): string | undefined {
  return CHARSET.exec(contentType)?.[1];
}

const DECLARATION = /^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']\s*([\w.:+-]{1,40})/i;

/** Names of encodings, and what precedes them, are ASCII in all encodings but UTF-16. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  return DECLARATION.exec(Buffer.from(bytes.subarray(0, LOOKED_AT)).toString("latin1"))?.[1];
}

function knownEncoding(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
