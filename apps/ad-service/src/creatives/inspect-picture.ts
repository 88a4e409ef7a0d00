import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";

export interface Picture {
  extension: "jpg" | "png" | "webp";
  width: number;
  height: number;
}

export const MAX_PICTURE_BYTES = 1024 * 1024;
const MIN_SIDE = 16;
const MAX_SIDE = 4096;
/** A viewer's device needs 4 bytes of memory for each pixel. */
const MAX_PIXELS = 4096 * 2304;

/**
 * Detects a still picture that every webview shows, by its bytes and not its name; otherwise returns the fault.
 */
export function inspectPicture(bytes: Buffer): Picture | FileFault {
  if (bytes.byteLength === 0) return fileFault("FILE_EMPTY");
  if (bytes.byteLength > MAX_PICTURE_BYTES)
    return fileFault("FILE_TOO_LARGE", { max: `${MAX_PICTURE_BYTES / 1024 / 1024} MiB` });
  const picture = jpegOf(bytes) ?? pngOf(bytes) ?? webpOf(bytes);
  if (!picture) return fileFault("PICTURE_UNREADABLE");
  const { width, height } = picture;
  const size = { width: String(width), height: String(height) };
  if (Math.min(width, height) < MIN_SIDE || Math.max(width, height) > MAX_SIDE) {
    return fileFault("PICTURE_SIDES", { ...size, min: String(MIN_SIDE), max: String(MAX_SIDE) });
  }
  if (width * height > MAX_PIXELS) return fileFault("PICTURE_PIXELS", { ...size, max: String(MAX_PIXELS) });
  return picture;
}

const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

function pngOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(PNG_START) || tagAt(bytes, 12) !== "IHDR") return undefined;
  // An animation declares itself before its first picture.
  const pixelsAt = bytes.indexOf("IDAT", 8, "latin1");
  if (bytes.subarray(0, Math.max(pixelsAt, 0)).includes("acTL", 8, "latin1")) return undefined;
  // Without its end chunk the picture is truncated.
  if (tagAt(bytes, bytes.length - 8) !== "IEND") return undefined;
  return { extension: "png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/**
 * https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.1: segments with a length each, until the one that contains the size.
 */
function jpegOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8 || !bytes.includes("\xff\xd9", bytes.length - 64, "latin1"))
    return undefined;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isSize = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isSize) return { extension: "jpg", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** https://developers.google.com/speed/webp/docs/riff_container */
function webpOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < 30 || tagAt(bytes, 0) !== "RIFF" || tagAt(bytes, 8) !== "WEBP") return undefined;
  if (bytes.readUInt32LE(4) + 8 > bytes.length) return undefined;
  const size = webpSizeOf(bytes);
  return size && { extension: "webp", ...size };
}

function webpSizeOf(bytes: Buffer): { width: number; height: number } | undefined {
  switch (tagAt(bytes, 12)) {
    case "VP8 ":
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      if (bytes[20] !== 0x2f) return undefined;
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X": {
      const isAnimated = (bytes.readUInt8(20) & 0x02) !== 0;
      if (isAnimated) return undefined;
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    }
    default:
      return undefined;
  }
}

function tagAt(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}
