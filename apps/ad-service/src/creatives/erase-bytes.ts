import type { FileHandle } from "node:fs/promises";

/** From the first byte to the one after the last. */
export interface ByteRange {
  from: number;
  to: number;
}

const zeros = Buffer.alloc(256 * 1024);

/** Overwrites bytes with zeros, so that everything behind them stays where the file's index says. */
export async function eraseBytes(file: FileHandle, { from, to }: ByteRange): Promise<void> {
  for (let at = from; at < to; ) {
    const length = Math.min(zeros.byteLength, to - at);
    await writeAll(file, zeros.subarray(0, length), at);
    at += length;
  }
}

export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done, position + done);
    done += bytesWritten;
  }
}
