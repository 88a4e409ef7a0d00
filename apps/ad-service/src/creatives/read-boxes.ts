import type { FileHandle } from "node:fs/promises";

export interface Box {
  type: string;
  offset: number;
  byteLength: number;
}

/** An MP4's top-level boxes in order; undefined if they do not add up to the file, which is then truncated. */
export async function readBoxes(file: FileHandle, byteLength: number): Promise<Box[] | undefined> {
  const boxes: Box[] = [];
  const header = Buffer.alloc(16);
  let offset = 0;
  while (offset < byteLength && boxes.length < 10_000) {
    const { bytesRead } = await file.read(header, 0, 16, offset);
    if (bytesRead < 8) return undefined;
    const size = boxSize(header, bytesRead, byteLength - offset);
    if (size === undefined || offset + size > byteLength) return undefined;
    boxes.push({ type: header.toString("latin1", 4, 8), offset, byteLength: size });
    offset += size;
  }
  return boxes;
}

/** ISO 14496-12, 4.2: size 1 means that 64 bits follow the type, 0 that the box extends to the end of the file. */
function boxSize(header: Buffer, bytesRead: number, bytesLeft: number): number | undefined {
  const size = header.readUInt32BE(0);
  if (size === 0) return bytesLeft;
  if (size !== 1) return size >= 8 ? size : undefined;
  const large = bytesRead === 16 ? Number(header.readBigUInt64BE(8)) : 0;
  return large >= 16 ? large : undefined;
}
