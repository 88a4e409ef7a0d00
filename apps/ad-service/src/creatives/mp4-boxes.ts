import type { FileHandle } from "node:fs/promises";
import type { ByteRange } from "./erase-bytes.ts";

export interface TopBox extends ByteRange {
  type: string;
  contentFrom: number;
}

/** Where one of these exceeds the file, a part of the video is missing. */
const ESSENTIAL = new Set(["moov", "moof", "mdat"]);
const MAX_TOP_BOXES = 10_000;

/**
 * An MP4's top-level boxes in order. What stands behind the last one that fits is `trailing`, as players read it: a line end,
 * a form's boundary, a phone's own data. `cut`: it is the beginning of an essential box, of which the rest is missing.
 */
interface TopBoxes {
  boxes: TopBox[];
  trailing: { offset: number; cut: string | undefined } | undefined;
}

export async function readBoxes(file: FileHandle, byteLength: number): Promise<TopBoxes> {
  const boxes: TopBox[] = [];
  const header = Buffer.alloc(16);
  let offset = 0;
  while (offset < byteLength && boxes.length < MAX_TOP_BOXES) {
    const { bytesRead } = await file.read(header, 0, 16, offset);
    const type = bytesRead < 8 ? "" : header.toString("latin1", 4, 8);
    const size = IS_TYPE.test(type) ? boxSize(header, bytesRead, byteLength - offset) : undefined;
    if (size === undefined || offset + size > byteLength) {
      return { boxes, trailing: { offset, cut: ESSENTIAL.has(type) ? type : undefined } };
    }
    const contentFrom = offset + (header.readUInt32BE(0) === 1 ? 16 : 8);
    boxes.push({ type, from: offset, contentFrom, to: offset + size });
    offset += size;
  }
  return { boxes, trailing: offset < byteLength ? { offset, cut: undefined } : undefined };
}

/** Four printable characters; QuickTime's own begin with ©. */
const IS_TYPE = /^[\x20-\x7e\xa9][\x20-\x7e]{3}$/;

/** ISO 14496-12, 4.2: size 1 means that 64 bits follow the type, 0 that the box extends to the end of the file. */
function boxSize(header: Buffer, bytesRead: number, bytesLeft: number): number | undefined {
  const size = header.readUInt32BE(0);
  if (size === 0) return bytesLeft;
  if (size !== 1) return size >= 8 ? size : undefined;
  const large = bytesRead === 16 ? Number(header.readBigUInt64BE(8)) : 0;
  return large >= 16 ? large : undefined;
}

/** The boxes inside of a top-level one. */
export async function contentOf(file: FileHandle, { contentFrom, to }: TopBox): Promise<Buffer> {
  const content = Buffer.alloc(to - contentFrom);
  await file.read(content, 0, content.byteLength, contentFrom);
  return content;
}

interface Child {
  type: string;
  /** With its head. It shares the memory of what it is in, as its content does. */
  whole: Buffer;
  content: Buffer;
}

/** The boxes inside of one, which `checkMp4` has refused if they do not add up. */
export function childrenOf(bytes: Buffer): Child[] {
  const children: Child[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at) || bytes.length - at;
    if (size < 8 || at + size > bytes.length) break;
    const whole = bytes.subarray(at, at + size);
    children.push({ type: whole.toString("latin1", 4, 8), whole, content: whole.subarray(8) });
    at += size;
  }
  return children;
}

/** The content of the box at the end of a path of types; undefined if there is none. */
export function contentAt(bytes: Buffer, ...path: readonly string[]): Buffer | undefined {
  let content: Buffer | undefined = bytes;
  for (const type of path) content = content && childrenOf(content).find((child) => child.type === type)?.content;
  return content;
}
