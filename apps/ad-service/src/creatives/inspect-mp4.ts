import type { FileHandle } from "node:fs/promises";
import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import { contentOf, readBoxes } from "./mp4-boxes.ts";
import { endOfSamples } from "./mp4-samples.ts";

/** The index of 180 s of video takes a few hundred KiB; it is read into memory as a whole. */
const MAX_INDEX_BYTES = 8 * 1024 * 1024;
const MAX_TRACKS = 16;
const MAX_BOXES = 10_000;
const MAX_DEPTH = 12;
/** 180 s at 240 frames a second. */
const MAX_FRAMES = 43_200;
/** Limit for a sound track: 180 s of PCM at 192 kHz, where each sample may count. */
const MAX_SAMPLES = 180 * 192_000;

/** Boxes that contain boxes: https://developer.apple.com/documentation/quicktime-file-format */
const PARENTS = new Set(["moov", "trak", "mdia", "minf", "dinf", "stbl", "edts", "mvex"]);

type Mp4Structure =
  /** `end`: what stands behind it belongs to no part of the video. */
  { outcome: "whole"; end: number } | { outcome: "refused"; fault: FileFault };

/**
 * Checks the structure of an MP4 or QuickTime file, before anything decodes it: its index must be complete and of bounded
 * size, and its media must be in the file itself, to the last frame. A fragmented file has its samples outside of the index.
 */
export async function checkMp4(file: FileHandle, byteLength: number): Promise<Mp4Structure> {
  const { boxes, trailing } = await readBoxes(file, byteLength);
  const truncated = refused(fileFault("FILE_TRUNCATED"));
  const index = boxes.find(({ type }) => type === "moov");
  if (!index) return trailing?.cut === undefined ? refused(fileFault("FILE_INDEX_MISSING")) : truncated;
  if (index.to - index.from > MAX_INDEX_BYTES) {
    return refused(indexFault(`is larger than ${MAX_INDEX_BYTES / 1024 / 1024} MiB`));
  }
  // A size of 64 bits is for more than fits into memory.
  if (index.contentFrom - index.from !== 8) return refused(indexFault("could not be read"));
  const content = await contentOf(file, index);
  const fault = faultWithin(content, { boxes: 0, tracks: 0, maxSamples: MAX_FRAMES }, 1);
  if (fault !== undefined) return refused(fault);
  const endOfFrames = endOfSamples(content);
  const cut = trailing?.cut;
  const isFragmentCut = cut === "moof" || (cut !== undefined && boxes.some(({ type }) => type === "moof"));
  if (endOfFrames > byteLength || isFragmentCut) return truncated;
  const isTrailing = trailing !== undefined && cut === undefined && trailing.offset >= endOfFrames;
  return { outcome: "whole", end: isTrailing ? trailing.offset : byteLength };
}

function refused(fault: FileFault): Mp4Structure {
  return { outcome: "refused", fault };
}

interface Walk {
  boxes: number;
  tracks: number;
  /** Limit for the track that is being read. */
  maxSamples: number;
}

function faultWithin(bytes: Buffer, walk: Walk, depth: number): FileFault | undefined {
  if (depth > MAX_DEPTH) return indexFault("is nested too deep");
  for (let at = 0; at + 8 <= bytes.length; ) {
    if (++walk.boxes > MAX_BOXES) return indexFault("has too many parts");
    const size = bytes.readUInt32BE(at);
    const end = size === 0 ? bytes.length : at + size;
    if (size === 1 || (size !== 0 && size < 8) || end > bytes.length) return indexFault("could not be read");
    const type = bytes.toString("latin1", at + 4, at + 8);
    const content = bytes.subarray(at + 8, end);
    if (type === "trak") {
      if (++walk.tracks > MAX_TRACKS) return fileFault("FILE_TRACKS", { max: String(MAX_TRACKS) });
      walk.maxSamples = MAX_FRAMES;
    }
    if (type === "hdlr" && content.toString("latin1", 8, 12) === "soun") walk.maxSamples = MAX_SAMPLES;
    const fault = PARENTS.has(type) ? faultWithin(content, walk, depth + 1) : faultOf(type, content, walk);
    if (fault !== undefined) return fault;
    at = end;
  }
  return undefined;
}

function faultOf(type: string, content: Buffer, { maxSamples }: Walk): FileFault | undefined {
  switch (type) {
    case "rmra":
    case "rdrf":
      return fileFault("FILE_OTHER_MEDIA");
    case "cmov":
      return indexFault("is compressed");
    case "dref":
      return isSelfContained(content) ? undefined : fileFault("FILE_OTHER_MEDIA");
    case "stsz":
    case "stz2":
      return content.length >= 12 && content.readUInt32BE(8) <= maxSamples ? undefined : tooManySamples;
    case "stts":
    case "ctts":
      return samplesOf(content) <= maxSamples ? undefined : tooManySamples;
    default:
      return undefined;
  }
}

const tooManySamples = fileFault("FILE_SAMPLES", { max: String(MAX_FRAMES) });

function indexFault(fault: string): FileFault {
  return fileFault("FILE_INDEX", { fault });
}

/** ISO 14496-12, 8.7.2: flag 1 of each entry says that the media is in this file. */
function isSelfContained(dref: Buffer): boolean {
  if (dref.length < 8) return false;
  for (let left = dref.readUInt32BE(4), at = 8; left > 0; left--) {
    if (at + 12 > dref.length) return false;
    const size = dref.readUInt32BE(at);
    if (size < 12 || (dref.readUInt32BE(at + 8) & 1) === 0) return false;
    at += size;
  }
  return true;
}

/** Sums a table of (count, value): a few bytes can declare billions. */
function samplesOf(table: Buffer): number {
  let samples = 0;
  const entries = table.length < 8 ? 0 : Math.min(table.readUInt32BE(4), Math.floor((table.length - 8) / 8));
  for (let entry = 0; entry < entries; entry++) samples += table.readUInt32BE(8 + entry * 8);
  return samples;
}
