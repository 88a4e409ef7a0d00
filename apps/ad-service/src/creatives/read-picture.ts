import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import { otherKindOf, pictureKindOf, textKindOf, videoKindOf } from "./other-files.ts";
import { orientationIn } from "./picture-orientation.ts";

export interface Picture {
  extension: "jpg" | "png" | "webp";
  /** As stored: not turned yet. */
  width: number;
  height: number;
  /** Viewers ignore what stands behind it. */
  byteLength: number;
  /** EXIF's: 1 is upright, 2 to 8 are turned or mirrored. */
  orientation: number;
  isAnimated: boolean;
}

/** Reads what a file says of itself as a browser does: from its beginning to its own end. */
export function readPicture(bytes: Buffer): Picture | FileFault {
  if (bytes.byteLength === 0) return fileFault("FILE_EMPTY");
  switch (pictureKindOf(bytes)) {
    case "a JPEG picture":
      return readJpeg(bytes);
    case "a PNG picture":
      return readPng(bytes);
    case "a WebP picture":
      return readWebp(bytes);
  }
  const kind = pictureKindOf(bytes) ?? otherKindOf(bytes) ?? videoKindOf(bytes) ?? textKindOf(bytes);
  return kind === undefined ? unreadable : fileFault("PICTURE_IS_OTHER", { kind });
}

const unreadable = fileFault("PICTURE_UNREADABLE");
const truncated = fileFault("FILE_TRUNCATED");

const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** https://www.w3.org/TR/png-3/#5DataRep: chunks with a length each, from IHDR to IEND. */
function readPng(bytes: Buffer): Picture | FileFault {
  if (!bytes.subarray(0, 8).equals(PNG_START)) return unreadable;
  let size: Pick<Picture, "width" | "height"> | undefined;
  let [orientation, isAnimated, hasPixels] = [1, false, false];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const type = tagAt(bytes, at + 4);
    const content = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
    const next = at + 12 + bytes.readUInt32BE(at);
    if (next > bytes.length) return truncated;
    if (size === undefined) {
      if (type !== "IHDR" || content.length < 13) return unreadable;
      size = { width: content.readUInt32BE(0), height: content.readUInt32BE(4) };
    }
    // An animation declares itself before its first picture.
    if (type === "acTL" && !hasPixels) isAnimated = true;
    if (type === "IDAT") hasPixels = true;
    if (type === "eXIf") orientation = orientationIn(content);
    if (type === "IEND") return { extension: "png", ...size, byteLength: next, orientation, isAnimated };
    at = next;
  }
  return truncated;
}

const [SOI, EOI, SOS, APP1] = [0xd8, 0xd9, 0xda, 0xe1] as const;
/** Baseline, extended and progressive: browsers show no other process. */
const FRAMES = [0xc0, 0xc1, 0xc2];
const OTHER_FRAMES = [0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];

/** https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.1: segments with a length each; behind SOS stand pixels without one. */
function readJpeg(bytes: Buffer): Picture | FileFault {
  let size: Pick<Picture, "width" | "height"> | undefined;
  let orientation = 1;
  for (let at = 2; ; ) {
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at++;
    const marker = bytes[at + 1];
    if (marker === undefined) return truncated;
    if (bytes[at] !== 0xff || marker === SOI) return unreadable;
    if (marker === EOI) {
      return size ? { extension: "jpg", ...size, byteLength: at + 2, orientation, isAnimated: false } : unreadable;
    }
    if (at + 4 > bytes.length) return truncated;
    const next = at + 2 + bytes.readUInt16BE(at + 2);
    if (next > bytes.length) return truncated;
    const content = bytes.subarray(at + 4, next);
    if (OTHER_FRAMES.includes(marker)) return unreadable;
    if (FRAMES.includes(marker)) {
      if (content.length < 6) return unreadable;
      size = { width: content.readUInt16BE(3), height: content.readUInt16BE(1) };
    }
    if (marker === APP1 && content.toString("latin1", 0, 6) === "Exif\0\0")
      orientation = orientationIn(content.subarray(6));
    at = marker === SOS ? endOfPixels(bytes, next) : next;
  }
}

/** The next marker that is not part of the pixels: neither a stuffed byte nor a restart. */
function endOfPixels(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    if (next !== undefined && next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}

/** https://developers.google.com/speed/webp/docs/riff_container */
function readWebp(bytes: Buffer): Picture | FileFault {
  if (bytes.length < 30 || tagAt(bytes, 0) !== "RIFF") return unreadable;
  const byteLength = bytes.readUInt32LE(4) + 8;
  if (byteLength > bytes.length) return truncated;
  const size = webpSizeOf(bytes);
  if (!size) return unreadable;
  let orientation = 1;
  for (let at = 12; at + 8 <= byteLength; ) {
    const length = bytes.readUInt32LE(at + 4);
    if (tagAt(bytes, at) === "EXIF")
      orientation = orientationIn(withoutPrefix(bytes.subarray(at + 8, at + 8 + length)));
    at += 8 + length + (length % 2);
  }
  return { extension: "webp", ...size, byteLength, orientation };
}

/** Some programs write the prefix that only JPEG needs. */
function withoutPrefix(exif: Buffer): Buffer {
  return exif.toString("latin1", 0, 6) === "Exif\0\0" ? exif.subarray(6) : exif;
}

function webpSizeOf(bytes: Buffer): Pick<Picture, "width" | "height" | "isAnimated"> | undefined {
  switch (tagAt(bytes, 12)) {
    case "VP8 ":
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff, isAnimated: false };
    case "VP8L": {
      if (bytes[20] !== 0x2f) return undefined;
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, isAnimated: false };
    }
    case "VP8X": {
      const isAnimated = (bytes.readUInt8(20) & 0x02) !== 0;
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1, isAnimated };
    }
    default:
      return undefined;
  }
}

function tagAt(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}
