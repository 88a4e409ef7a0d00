import type { FileHandle } from "node:fs/promises";
import { childrenOf, type ElementReader } from "./webm-elements.ts";

const EBML = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const VOID = 0xec;

/**
 * Where a WebM's segment, which contains all of it, ends by its size. Undefined if it declares none, as of a live recording;
 * then the file ends where its bytes do.
 */
export async function endOfSegment(file: FileHandle): Promise<number | undefined> {
  const reader: ElementReader = {
    elements: 0,
    async read(from, length) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, from);
      return buffer.subarray(0, bytesRead);
    },
  };
  for await (const { id, to, isOfKnownLength } of childrenOf(reader, 0, Number.MAX_SAFE_INTEGER)) {
    if (id === SEGMENT) return isOfKnownLength ? to : undefined;
    if (id !== EBML && id !== VOID) return undefined;
  }
  return undefined;
}
