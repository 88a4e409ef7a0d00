import { childrenOf, contentAt } from "./mp4-boxes.ts";
import { sampleRanges } from "./sample-ranges.ts";

/**
 * Where the last frame of an MP4's picture and sound ends, by its index (the content of `moov`), whose tables were checked by
 * `checkMp4`: a file that ends before it is truncated, whatever the sizes of its boxes say. 0 if the tables do not say it.
 */
export function endOfSamples(index: Buffer): number {
  let end = 0;
  for (const { type, content: track } of childrenOf(index)) {
    const handler = contentAt(track, "mdia", "hdlr")?.toString("latin1", 8, 12);
    const table = contentAt(track, "mdia", "minf", "stbl");
    if (type !== "trak" || !table || (handler !== "vide" && handler !== "soun")) continue;
    // Sound of QuickTime counts a byte for each sample, whatever its chunks hold.
    if (contentAt(table, "stsz")?.subarray(4, 8).equals(ONE_BYTE)) continue;
    for (const { from, to } of sampleRanges(table) ?? []) if (to > from) end = Math.max(end, to);
  }
  return end;
}

const ONE_BYTE = Buffer.from([0, 0, 0, 1]);
