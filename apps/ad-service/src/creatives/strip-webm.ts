import type { FileHandle } from "node:fs/promises";
import { eraseBytes, writeAll } from "./erase-bytes.ts";
import {
  bytesIn,
  childrenOf,
  type Element,
  type ElementReader,
  find,
  lengthOfNumber,
  numberIn,
  Unreadable,
} from "./webm-elements.ts";

/** https://www.matroska.org/technical/elements.html */
const ids = {
  ebml: 0x1a45dfa3,
  segment: 0x18538067,
  seekHead: 0x114d9b74,
  seek: 0x4dbb,
  seekId: 0x53ab,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  cluster: 0x1f43b675,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  cues: 0x1c53bb6b,
} as const;

const shownTypes = [1, 2];
const keptInSegment: ReadonlySet<number> = new Set([ids.seekHead, ids.info, ids.tracks, ids.cluster, ids.cues]);
/** The scale of time and the duration; the two names of programs must be there, and may be empty. */
const keptInInfo: ReadonlySet<number> = new Set([0x2ad7b1, 0x4489]);
const emptiedInInfo: ReadonlySet<number> = new Set([0x4d80, 0x5741]);
/** A track's name, the name of its codec, a link to an attachment, a checksum, which would be wrong. */
const droppedInTrack: ReadonlySet<number> = new Set([0x536e, 0x258688, 0x7446, 0xbf]);
/** Timestamp, position, size of the one before, and blocks. */
const keptInCluster: ReadonlySet<number> = new Set([0xe7, 0xa7, 0xab, ids.simpleBlock, ids.blockGroup]);

interface Stripping extends ElementReader {
  erase: (element: Element) => Promise<void>;
  empty: (element: Element) => Promise<void>;
  write: (bytes: Buffer, at: number) => Promise<void>;
  shownTracks: Set<number>;
}

/**
 * Keeps the tracks of picture and sound, their blocks and what finds them; other elements become `Void` of the same length.
 * Returns false if the file's structure cannot be read.
 */
export async function stripWebm(file: FileHandle, byteLength: number): Promise<boolean> {
  const stripping = strippingOf(file, byteLength);
  try {
    let end = 0;
    for await (const element of childrenOf(stripping, 0, byteLength)) {
      if (element.id !== ids.ebml && element.id !== ids.segment) break;
      if (element.id === ids.segment) await stripSegment(stripping, element);
      end = element.to;
      if (element.id === ids.segment) break;
    }
    if (stripping.shownTracks.size === 0) return false;
    await file.truncate(end);
    return true;
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}

/** Elements lie close to one another, so that a piece of the file has the heads of many. */
const PIECE_BYTES = 64 * 1024;

function strippingOf(file: FileHandle, byteLength: number): Stripping {
  const piece = { from: 0, bytes: Buffer.alloc(0) };
  const forget = () => Object.assign(piece, { bytes: Buffer.alloc(0) });
  return {
    elements: 0,
    shownTracks: new Set(),
    async read(from, length) {
      if (from < piece.from || from + length > piece.from + piece.bytes.length) {
        const needed = Math.min(Math.max(PIECE_BYTES, length), Math.max(0, byteLength - from));
        const { bytesRead, buffer } = await file.read(Buffer.alloc(needed), 0, needed, from);
        Object.assign(piece, { from, bytes: buffer.subarray(0, bytesRead) });
      }
      return piece.bytes.subarray(from - piece.from, from - piece.from + length);
    },
    async erase({ from, to }) {
      const head = voidHead(to - from);
      await writeAll(file, head, from);
      await eraseBytes(file, { from: from + head.length, to });
      forget();
    },
    async empty({ contentFrom, to }) {
      await eraseBytes(file, { from: contentFrom, to });
      forget();
    },
    async write(bytes, at) {
      await writeAll(file, bytes, at);
      forget();
    },
  };
}

/** The length of an element is at least 2, and its own length takes 1 byte or 8. */
function voidHead(length: number): Buffer {
  if (length <= 0x7f) return Buffer.from([0xec, 0x80 | (length - 2)]);
  const head = Buffer.from([0xec, 0x01, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUIntBE(length - head.length, 3, 6);
  return head;
}

async function stripSegment(stripping: Stripping, segment: Element): Promise<void> {
  for (let at = segment.contentFrom; at < segment.to; ) {
    let next = at;
    for await (const element of childrenOf(stripping, at, segment.to)) {
      next = element.to;
      if (!element.isOfKnownLength) {
        // Of a live recording: its blocks follow as if they were the segment's own.
        if (element.id !== ids.cluster) throw new Unreadable();
        next = element.contentFrom;
        break;
      }
      await stripPart(stripping, element);
    }
    at = next;
  }
}

async function stripPart(stripping: Stripping, element: Element): Promise<void> {
  switch (element.id) {
    case ids.seekHead:
      return stripSeekHead(stripping, element);
    case ids.info:
      return stripInfo(stripping, element);
    case ids.tracks:
      return stripTracks(stripping, element);
    case ids.cluster:
      for await (const child of childrenOf(stripping, element.contentFrom, element.to))
        await stripBlock(stripping, child);
      return;
    case ids.cues:
      return;
    default:
      return keptInCluster.has(element.id) ? stripBlock(stripping, element) : stripping.erase(element);
  }
}

/** Drops what leads to elements that are not there any more. */
async function stripSeekHead(stripping: Stripping, seekHead: Element): Promise<void> {
  for await (const seek of childrenOf(stripping, seekHead.contentFrom, seekHead.to)) {
    let isKept = false;
    if (seek.id === ids.seek) {
      const sought = await find(stripping, seek, ids.seekId);
      isKept = sought !== undefined && keptInSegment.has(await numberIn(stripping, sought));
    }
    if (!isKept) await stripping.erase(seek);
  }
}

async function stripInfo(stripping: Stripping, info: Element): Promise<void> {
  for await (const child of childrenOf(stripping, info.contentFrom, info.to)) {
    if (emptiedInInfo.has(child.id)) await stripping.empty(child);
    else if (!keptInInfo.has(child.id)) await stripping.erase(child);
  }
}

async function stripTracks(stripping: Stripping, tracks: Element): Promise<void> {
  for await (const track of childrenOf(stripping, tracks.contentFrom, tracks.to)) {
    const type = track.id === ids.trackEntry ? await find(stripping, track, ids.trackType) : undefined;
    if (type === undefined || !shownTypes.includes(await numberIn(stripping, type))) {
      await stripping.erase(track);
      continue;
    }
    const number = await find(stripping, track, ids.trackNumber);
    if (number !== undefined) stripping.shownTracks.add(await numberIn(stripping, number));
    await stripTrack(stripping, track);
  }
}

async function stripTrack(stripping: Stripping, track: Element): Promise<void> {
  const codec = await find(stripping, track, ids.codecId);
  const isVorbis = codec !== undefined && (await bytesIn(stripping, codec)).toString("latin1").startsWith("A_VORBIS");
  for await (const child of childrenOf(stripping, track.contentFrom, track.to)) {
    if (droppedInTrack.has(child.id)) await stripping.erase(child);
    if (child.id !== ids.codecPrivate || !isVorbis) continue;
    const bytes = Buffer.from(await bytesIn(stripping, child));
    eraseComments(bytes);
    await stripping.write(bytes, child.contentFrom);
  }
}

/**
 * https://xiph.org/vorbis/doc/Vorbis_I_spec.html#x1-820005: the second header has the maker's name and comments, each with
 * its length. All of it becomes an empty name of the same length.
 */
function eraseComments(headers: Buffer): void {
  const start = headers.indexOf("\x03vorbis", 0, "latin1");
  const end = headers.indexOf("\x05vorbis", Math.max(start, 0), "latin1");
  const nameFrom = start + 11;
  const nameTo = end - 5;
  if (start < 0 || nameTo < nameFrom) return;
  headers.fill(0, nameFrom, end);
  headers.writeUInt32LE(nameTo - nameFrom, start + 7);
  headers.writeUInt8(1, end - 1);
}

async function stripBlock(stripping: Stripping, element: Element): Promise<void> {
  if (!keptInCluster.has(element.id)) return stripping.erase(element);
  // No encoder writes the tracks behind the blocks.
  if (stripping.shownTracks.size === 0) throw new Unreadable();
  const block = element.id === ids.blockGroup ? await find(stripping, element, ids.block) : element;
  if (element.id !== ids.simpleBlock && element.id !== ids.blockGroup) return;
  const head = block && (await stripping.read(block.contentFrom, Math.min(8, block.to - block.contentFrom)));
  if (head === undefined || !stripping.shownTracks.has(trackOf(head))) await stripping.erase(element);
}

/** A block begins with its track's number, written as sizes are. */
function trackOf(head: Buffer): number {
  const length = lengthOfNumber(head, 0);
  if (length > 4 || length > head.length) return -1;
  return head.readUIntBE(0, length) - 2 ** (7 * length);
}
