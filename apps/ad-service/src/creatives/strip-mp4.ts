import type { FileHandle } from "node:fs/promises";
import { type ByteRange, eraseBytes, writeAll } from "./erase-bytes.ts";
import { childrenOf, contentAt, contentOf, readBoxes, type TopBox } from "./mp4-boxes.ts";
import { sampleRanges } from "./sample-ranges.ts";

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

/**
 * Keeps the index of picture and sound, and the bytes that it refers to; boxes with anything else become empty `free` boxes
 * of the same length. Returns false if the structure of the file, which `checkMp4` has accepted, cannot be read this far;
 * nothing has been written then.
 */
export async function stripMp4(file: FileHandle, byteLength: number): Promise<boolean> {
  const { boxes } = await readBoxes(file, byteLength);
  const moov = boxes.find(({ type }) => type === "moov");
  const isKept = (box: TopBox) => box === moov || box.type === "ftyp" || box.type === "mdat";
  const lastKept = boxes.findLast(isKept);
  if (moov === undefined || lastKept === undefined) return false;
  const index = await contentOf(file, moov);
  const shown: ByteRange[] = [];
  for (const track of childrenOf(index).filter(({ type }) => type === "trak")) {
    if (!SHOWN_HANDLERS.includes(handlerOf(track.content))) continue;
    const ranges = sampleRanges(contentAt(track.content, "mdia", "minf", "stbl") ?? NOTHING);
    if (ranges === undefined || ranges.some(({ to }) => to > lastKept.to)) return false;
    shown.push(...ranges);
  }
  stripWithin(index, "moov");
  await writeAll(file, index, moov.contentFrom);
  for (const box of boxes) if (!isKept(box)) await freeBox(file, box);
  for (const gap of gapsOf(shown, byteLength)) {
    for (const box of boxes) if (box.type === "mdat") await eraseBytes(file, within(gap, box));
  }
  if (lastKept.to < byteLength) await file.truncate(lastKept.to);
  return true;
}

const NOTHING = Buffer.alloc(0);

async function freeBox(file: FileHandle, { from, contentFrom, to }: TopBox): Promise<void> {
  await file.write("free", from + 4, "latin1");
  await eraseBytes(file, { from: contentFrom, to });
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

function within(range: ByteRange, { contentFrom, to }: TopBox): ByteRange {
  return { from: Math.max(range.from, contentFrom), to: Math.min(range.to, to) };
}

const handlerOf = (track: Buffer): string => contentAt(track, "mdia", "hdlr")?.toString("latin1", 8, 12) ?? "";

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
