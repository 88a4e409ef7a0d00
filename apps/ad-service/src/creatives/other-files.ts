import type { FileWord } from "@intermission/operator-api/file-faults";

/** Bytes of files that are chosen by mistake, by their offsets. */
interface Signature {
  bytes: string;
  at?: number;
  name: FileWord;
}

const pictures: readonly Signature[] = [
  { bytes: "\x89PNG", name: "a PNG picture" },
  { bytes: "\xff\xd8\xff", name: "a JPEG picture" },
  { bytes: "WEBP", at: 8, name: "a WebP picture" },
  { bytes: "GIF8", name: "a GIF picture" },
  { bytes: "BM", name: "a BMP picture" },
  { bytes: "II*\0", name: "a TIFF picture" },
  { bytes: "MM\0*", name: "a TIFF picture" },
  { bytes: "JXL ", at: 4, name: "a JPEG XL picture" },
  { bytes: "\xff\x0a", name: "a JPEG XL picture" },
];
const others: readonly Signature[] = [
  { bytes: "%PDF", name: "a PDF document" },
  { bytes: "PK\x03\x04", name: "an archive (ZIP)" },
  { bytes: "WAVE", at: 8, name: "a sound file" },
  { bytes: "ID3", name: "a sound file" },
  { bytes: "fLaC", name: "a sound file" },
];
const videos: readonly Signature[] = [
  { bytes: "\x1a\x45\xdf\xa3", name: "a WebM" },
  { bytes: "ftyp", at: 4, name: "an MP4" },
  { bytes: "moov", at: 4, name: "an MP4" },
];

/** Brands of pictures in MP4's container (ISO 23008-12); the major brand may be a general one. */
const brandsOfPictures: readonly [brand: RegExp, name: FileWord][] = [
  [/^avi[fs]|^(?:mif1|msf1).*avi[fs]/s, "an AVIF picture"],
  [/^(?:hei[cxms]|hev[cxms]|mif1|msf1)/, "a HEIC picture"],
];

/** What a file is by its first bytes, if it is a picture. */
export function pictureKindOf(head: Buffer): FileWord | undefined {
  const bytes = head.toString("latin1", 0, 64);
  if (bytes.startsWith("ftyp", 4)) return brandsOfPictures.find(([brand]) => brand.test(bytes.slice(8, 48)))?.[1];
  return nameIn(pictures, bytes);
}

/** What a file is that is neither a picture nor a video. */
export function otherKindOf(head: Buffer): FileWord | undefined {
  return nameIn(others, head.toString("latin1", 0, 64));
}

/** Texts that are chosen as a picture, by how they begin; a byte order mark, a comment or a declaration may come before. */
const texts: readonly [start: RegExp, name: FileWord][] = [
  [/^[^<]{0,8}(?:<[?!][^>]*>\s*)*<svg[\s>]/i, "an SVG picture"],
  [/^[^<]{0,8}(?:<!doctype html|(?:<!--[^>]*>\s*)*<(?:html|head|body|script)[\s>])/i, "a web page"],
];

export function textKindOf(head: Buffer): FileWord | undefined {
  const start = head.toString("latin1", 0, 512);
  return texts.find(([pattern]) => pattern.test(start))?.[1];
}

export function videoKindOf(head: Buffer): FileWord | undefined {
  return nameIn(videos, head.toString("latin1", 0, 64));
}

function nameIn(signatures: readonly Signature[], bytes: string): FileWord | undefined {
  return signatures.find((one) => bytes.startsWith(one.bytes, one.at ?? 0))?.name;
}
