import type { FileHandle } from "node:fs/promises";
import { type ByteRange, eraseBytes, writeAll } from "./erase-bytes.ts";
import { sampleRanges } from "./sample-ranges.ts";

interface TopBox extends ByteRange {
  type: string;
  contentFrom: number;
}

/** What each box may contain (ISO 14496-12, and QuickTime's clean aperture); the rest becomes `free`. */
const keptWithin: Readonly<Record<string, ReadonlySet<string>>> = {
  moov: new Set(["mvhd", "trak", "iods"]),
  trak: new Set(["tkhd", "edts", "mdia", "tapt"]),
  edts: new Set(["elst"]),
  mdia: new Set(["mdhd", "hdlr", "minf", "elng"]),
  minf: new Set(["vmhd", "smhd", "hdlr", "dinf", "stbl"]),
  dinf: new Set(["dref"]),
  // biome-ignore format: packed
  stbl: new Set([
    "stsd", "stts", "ctts", "cslg", "stsc", "stsz", "stz2", "stco", "co64",
    "stss", "stsh", "stps", "sdtp", "sbgp", "sgpd", "padb", "subs",
  ]),
};
const SHOWN_HANDLERS = ["vide", "soun"];
const HEAD_BYTES = 8;
/** As `checkMp4` accepts it. */
const MAX_INDEX_BYTES = 8 * 1024 * 1024;

/**
 * Keeps the index of picture and sound, and the bytes that it refers to; boxes with anything else become empty `free` boxes
 * of the same length. Returns false if the file's structure cannot be read; nothing has been written then.
 */
export async function stripMp4(file: FileHandle, byteLength: number): Promise<boolean> {
  const boxes = await readTopBoxes(file, byteLength);
  const moov = boxes.find(({ type }) => type === "moov");
  if (moov === undefined || moov.to - moov.from > MAX_INDEX_BYTES) return false;
  const index = Buffer.alloc(moov.to - moov.contentFrom);
  await file.read(index, 0, index.byteLength, moov.contentFrom);
  const shown: ByteRange[] = [];
  for (const track of childrenOf(index).filter(({ type }) => type === "trak")) {
    if (!SHOWN_HANDLERS.includes(handlerOf(track.content))) continue;
    const ranges = sampleRanges(find(track.content, ["mdia", "minf", "stbl"]));
    if (ranges === undefined) return false;
    shown.push(...ranges);
  }
  stripWithin(index, "moov");
  await writeAll(file, index, moov.contentFrom);
  await eraseAround(file, { boxes, moov, shown, byteLength });
  return true;
}

/** Boxes until the first bytes that are none: what follows is a trailer of some camera, which no player reads. */
async function readTopBoxes(file: FileHandle, byteLength: number): Promise<TopBox[]> {
  const boxes: TopBox[] = [];
  const head = Buffer.alloc(16);
  for (let from = 0; from + HEAD_BYTES <= byteLength && boxes.length < 10_000; ) {
    const { bytesRead } = await file.read(head, 0, 16, from);
    const declared = head.readUInt32BE(0);
    const isLarge = declared === 1 && bytesRead === 16;
    const size = declared === 0 ? byteLength - from : isLarge ? Number(head.readBigUInt64BE(8)) : declared;
    const contentFrom = from + (isLarge ? 16 : HEAD_BYTES);
    const to = from + size;
    if (to < contentFrom || to > byteLength) break;
    boxes.push({ type: head.toString("latin1", 4, 8), from, to, contentFrom });
    from = to;
  }
  return boxes;
}

async function eraseAround(
  file: FileHandle,
  found: { boxes: readonly TopBox[]; moov: TopBox; shown: readonly ByteRange[]; byteLength: number },
): Promise<void> {
  const { boxes, moov, shown, byteLength } = found;
  const isKept = (box: TopBox) => box === moov || box.type === "ftyp" || box.type === "mdat";
  const gaps = gapsOf(shown, byteLength);
  for (const box of boxes) {
    if (box.type === "mdat") {
      for (const gap of gaps) await eraseBytes(file, within(gap, { from: box.contentFrom, to: box.to }));
    } else if (!isKept(box)) {
      await file.write("free", box.from + 4, "latin1");
      await eraseBytes(file, { from: box.contentFrom, to: box.to });
    }
  }
  const last = boxes.findLast(isKept);
  if (last !== undefined && last.to < byteLength) await file.truncate(last.to);
}

function gapsOf(ranges: readonly ByteRange[], byteLength: number): ByteRange[] {
  const gaps: ByteRange[] = [];
  let at = 0;
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    if (from > at) gaps.push({ from: at, to: from });
    at = Math.max(at, to);
  }
  return at < byteLength ? [...gaps, { from: at, to: byteLength }] : gaps;
}

function within(range: ByteRange, { from, to }: ByteRange): ByteRange {
  return { from: Math.max(range.from, from), to: Math.min(range.to, to) };
}

interface Child {
  type: string;
  /** With its head. */
  whole: Buffer;
  /** Shares the memory of what it is in. */
  content: Buffer;
}

/** The boxes inside of one. `checkMp4` has refused what does not add up. */
function childrenOf(bytes: Buffer): Child[] {
  const children: Child[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    const end = size < HEAD_BYTES || at + size > bytes.length ? bytes.length : at + size;
    const type = bytes.toString("latin1", at + 4, at + HEAD_BYTES);
    children.push({ type, whole: bytes.subarray(at, end), content: bytes.subarray(at + HEAD_BYTES, end) });
    at = end;
  }
  return children;
}

function find(bytes: Buffer, [type, ...deeper]: readonly string[]): Buffer {
  if (type === undefined) return bytes;
  const child = childrenOf(bytes).find((one) => one.type === type);
  return child === undefined ? Buffer.alloc(0) : find(child.content, deeper);
}

const handlerOf = (track: Buffer): string => find(track, ["mdia", "hdlr"]).toString("latin1", 8, 12);

function stripWithin(bytes: Buffer, parent: string): void {
  for (const { type, whole, content } of childrenOf(bytes)) {
    const isKept = keptWithin[parent]?.has(type) === true;
    if (!isKept || (type === "trak" && !SHOWN_HANDLERS.includes(handlerOf(content)))) {
      whole.write("free", 4, "latin1");
      content.fill(0);
    } else if (type in keptWithin) {
      stripWithin(content, type);
    } else {
      stripFields(type, content);
    }
  }
}

const NAME_OF_HANDLER_AT = 24;

/** Moments of recording and of editing; the handler's name, where editors write theirs. */
function stripFields(type: string, content: Buffer): void {
  if (type === "hdlr") content.fill(0, Math.min(NAME_OF_HANDLER_AT, content.length));
  if (!["mvhd", "tkhd", "mdhd"].includes(type) || content.length < 20) return;
  content.fill(0, 4, content[0] === 1 ? 20 : 12);
}
