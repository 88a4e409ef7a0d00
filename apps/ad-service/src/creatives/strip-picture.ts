import { crc32 } from "node:zlib";
import { exifWith, orientationIn } from "./picture-orientation.ts";
import type { Picture } from "./read-picture.ts";

/**
 * The same picture without what cameras and editors write beside it: place, time, device, previews, comments, bytes behind
 * its end. Its colours, and which side the camera has noted as the upper one, stay. Undefined if its structure cannot be read.
 */
export function strippedPicture(bytes: Buffer, extension: Picture["extension"]): Buffer | undefined {
  return strips[extension](bytes);
}

const strips = { jpg: strippedJpeg, png: strippedPng, webp: strippedWebp } satisfies Record<
  Picture["extension"],
  (bytes: Buffer) => Buffer | undefined
>;

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
const EXIF_SEGMENT = 0xe1;
/** Segments of an application that change how the picture is drawn; their text says whose they are. */
const keptSegments: Readonly<Record<number, string>> = { 224: "JFIF\0", 226: "ICC_PROFILE\0", 238: "Adobe" };
const EXIF_START = "Exif\0\0";

/** https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.1. */
function strippedJpeg(bytes: Buffer): Buffer | undefined {
  const kept: Buffer[] = [bytes.subarray(0, 2)];
  for (let at = 2; at + 2 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === END_OF_IMAGE) return Buffer.concat([...kept, bytes.subarray(at, at + 2)]);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (at + 4 > bytes.length) return undefined;
    const length = 2 + bytes.readUInt16BE(at + 2);
    const end = marker === START_OF_SCAN ? endOfScan(bytes, at + length) : at + length;
    if (length < 4 || end > bytes.length) return undefined;
    const segment = keptSegment(marker, bytes.subarray(at, end));
    if (segment !== undefined) kept.push(segment);
    at = end;
  }
  return undefined;
}

/** Its thumbnail is dropped. */
const JFIF_BYTES = 18;

function keptSegment(marker: number, segment: Buffer): Buffer | undefined {
  const isOfApplication = (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe;
  if (!isOfApplication) return segment;
  const content = segment.subarray(4);
  if (marker === EXIF_SEGMENT) {
    const orientation = content.toString("latin1", 0, 6) === EXIF_START ? orientationIn(content.subarray(6)) : 1;
    return orientation === 1 ? undefined : jpegSegment(EXIF_SEGMENT, EXIF_START, exifWith(orientation));
  }
  const owner = keptSegments[marker];
  if (owner === undefined || content.toString("latin1", 0, owner.length) !== owner) return undefined;
  if (marker !== 0xe0 || segment.length < JFIF_BYTES) return segment;
  const sides = Buffer.from(content.subarray(5, 12));
  return jpegSegment(0xe0, owner, Buffer.concat([sides, Buffer.alloc(2)]));
}

function jpegSegment(marker: number, start: string, content: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(2 + start.length + content.length, 2);
  return Buffer.concat([head, Buffer.from(start, "latin1"), content]);
}

/** The first marker that is neither a stuffed byte nor a restart. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes.readUInt8(at + 1);
    const isOfScan = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
    if (!isOfScan) return at;
  }
  return Number.POSITIVE_INFINITY;
}

/** The picture, its transparency and its colours (https://www.w3.org/TR/png-3/#11Chunks). */
// biome-ignore format: packed
const keptChunks = [
  "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD", "pHYs",
];

function strippedPng(bytes: Buffer): Buffer | undefined {
  const kept: Buffer[] = [bytes.subarray(0, 8)];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (keptChunks.includes(type)) kept.push(bytes.subarray(at, end));
    if (type === "IEND") return Buffer.concat(kept);
    if (type === "eXIf") {
      const orientation = orientationIn(bytes.subarray(at + 8, end - 4));
      if (orientation !== 1) kept.push(pngChunk("eXIf", exifWith(orientation)));
    }
    at = end;
  }
  return undefined;
}

function pngChunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

const keptRiffChunks = ["VP8 ", "VP8L", "VP8X", "ALPH", "ICCP"];
/** Bits of the first byte of `VP8X`: whether there is Exif, and XMP. */
const HAS_EXIF = 0x08;
const HAS_XMP = 0x04;

/** https://developers.google.com/speed/webp/docs/riff_container */
function strippedWebp(bytes: Buffer): Buffer | undefined {
  const fileEnd = 8 + bytes.readUInt32LE(4);
  const kept: Buffer[] = [Buffer.from(bytes.subarray(0, 12))];
  let orientation = 1;
  for (let at = 12; at + 8 <= fileEnd; ) {
    const size = bytes.readUInt32LE(at + 4);
    const end = at + 8 + size + (size % 2);
    // The last byte of padding may be missing.
    if (at + 8 + size > bytes.length) return undefined;
    const type = bytes.toString("latin1", at, at + 4);
    if (keptRiffChunks.includes(type)) kept.push(riffChunk(type, bytes.subarray(at + 8, at + 8 + size)));
    if (type === "EXIF") {
      const content = bytes.subarray(at + 8, at + 8 + size);
      orientation = orientationIn(content.toString("latin1", 0, 6) === EXIF_START ? content.subarray(6) : content);
    }
    at = end;
  }
  const [head, first] = kept;
  if (head === undefined || first === undefined) return undefined;
  if (first.toString("latin1", 0, 4) === "VP8X") {
    const flags = first.readUInt8(8) & ~(HAS_EXIF | HAS_XMP);
    first.writeUInt8(orientation === 1 ? flags : flags | HAS_EXIF, 8);
    if (orientation !== 1) kept.push(riffChunk("EXIF", exifWith(orientation)));
  }
  head.writeUInt32LE(kept.reduce((sum, { length }) => sum + length, 0) - 8, 4);
  return Buffer.concat(kept);
}

function riffChunk(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, "latin1");
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}
