import type { ByteRange } from "./erase-bytes.ts";
import { childrenOf } from "./mp4-boxes.ts";

/**
 * Where the samples of a track are in the file, one range for each chunk (ISO 14496-12, 8.7); undefined if its tables
 * contradict one another.
 */
export function sampleRanges(sampleTable: Buffer): ByteRange[] | undefined {
  const tables = new Map(childrenOf(sampleTable).map(({ type, content }) => [type, content]));
  const offsets = chunkOffsets(tables);
  const sizes = sampleSizes(tables);
  if (offsets === undefined || sizes === undefined) return undefined;
  const samplesByChunk = chunkSamples(tables.get("stsc"), offsets.length);
  const ranges: ByteRange[] = [];
  let sample = 0;
  for (const [chunk, from] of offsets.entries()) {
    const last = Math.min(sample + (samplesByChunk[chunk] ?? 0), sizes.count);
    let to = from;
    for (; sample < last; sample++) to += sizes.at(sample);
    ranges.push({ from, to });
  }
  return sample === sizes.count ? ranges : undefined;
}

function chunkOffsets(tables: ReadonlyMap<string, Buffer>): number[] | undefined {
  const [table, width] = tables.has("co64") ? [tables.get("co64"), 8] : [tables.get("stco"), 4];
  if (table === undefined || table.length < 8) return undefined;
  const count = table.readUInt32BE(4);
  if (8 + count * width > table.length) return undefined;
  return Array.from({ length: count }, (_, chunk) =>
    width === 8 ? Number(table.readBigUInt64BE(8 + chunk * 8)) : table.readUInt32BE(8 + chunk * 4),
  );
}

/** Each entry of the table says how many samples the chunks from its first one on have. */
function chunkSamples(table: Buffer | undefined, chunks: number): number[] {
  const samples: number[] = [];
  const entries =
    table === undefined || table.length < 8 ? 0 : Math.min(table.readUInt32BE(4), (table.length - 8) / 12);
  for (let entry = 0; table !== undefined && entry < entries; entry++) {
    const at = 8 + entry * 12;
    const until = entry + 1 < entries ? table.readUInt32BE(at + 12) - 1 : chunks;
    while (samples.length < Math.min(until, chunks)) samples.push(table.readUInt32BE(at + 4));
  }
  return samples;
}

interface SampleSizes {
  count: number;
  at(sample: number): number;
}

function sampleSizes(tables: ReadonlyMap<string, Buffer>): SampleSizes | undefined {
  const table = tables.get("stsz");
  if (table === undefined) return compactSizes(tables.get("stz2"));
  if (table.length < 12) return undefined;
  const size = table.readUInt32BE(4);
  const count = table.readUInt32BE(8);
  if (size !== 0) return { count, at: () => size };
  return 12 + count * 4 > table.length ? undefined : { count, at: (sample) => table.readUInt32BE(12 + sample * 4) };
}

function compactSizes(table: Buffer | undefined): SampleSizes | undefined {
  if (table === undefined || table.length < 12) return undefined;
  const bits = table.readUInt8(7);
  const count = table.readUInt32BE(8);
  if (![4, 8, 16].includes(bits) || 12 + (count * bits) / 8 > table.length) return undefined;
  if (bits === 16) return { count, at: (sample) => table.readUInt16BE(12 + sample * 2) };
  if (bits === 8) return { count, at: (sample) => table.readUInt8(12 + sample) };
  return { count, at: (sample) => (table.readUInt8(12 + (sample >> 1)) >> (sample % 2 === 0 ? 4 : 0)) & 0x0f };
}
