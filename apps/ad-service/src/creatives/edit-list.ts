import { open } from "node:fs/promises";
import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import { childrenOf, contentAt, contentOf, readBoxes } from "./mp4-boxes.ts";

/** An entry of a track's edit list (ISO 14496-12, 8.6.6). `mediaSeconds` is null for an empty edit, which shows nothing. */
export interface Edit {
  seconds: number;
  mediaSeconds: number | null;
  rate: number;
}

/** What a track shows of its media, in seconds of the presentation. */
export type Presentation =
  /** All of the media from its beginning or a cut on, once, at its own speed: every browser plays this alike. */
  | { outcome: "whole"; from: number; to: number }
  /** Browsers show something else than the list says. `isEmptyEdit`: the list is to be ignored. */
  | { outcome: "edited"; fault: FileFault; from: number; to: number; isEmptyEdit?: true }
  | { outcome: "nothing" };

/** Browsers append what a list hides at the end of the media, so a list may hide no more than one call's jitter. */
const MAX_HIDDEN_END_SECONDS = 0.25;

/**
 * Applies an edit list to media that extends over `from` to `to` seconds of the track's own time. In a fragmented file the
 * list is written before the length is known, so the length of its last entry says nothing.
 */
export function presentationOf(
  edits: readonly Edit[],
  media: { from: number; to: number },
  { isFragmented }: { isFragmented: boolean },
): Presentation {
  const firstShown = edits.findIndex(({ mediaSeconds }) => mediaSeconds !== null);
  const shown = edits[firstShown];
  if (!shown || shown.mediaSeconds === null) {
    return edits.length === 0 ? { outcome: "whole", ...media } : { outcome: "nothing" };
  }
  const lead = sumOf(edits.slice(0, firstShown));
  const length = sumOf(edits);
  if (edits.length > firstShown + 1) {
    const fault = fileFault("VIDEO_EDITS_PARTS", { parts: String(edits.length) });
    return { outcome: "edited", fault, from: lead, to: length };
  }
  if (shown.rate !== 1) {
    return { outcome: "edited", fault: fileFault("VIDEO_EDITS_SPEED"), from: lead, to: length };
  }
  const left = media.to - shown.mediaSeconds;
  if (left <= 0) return { outcome: "nothing" };
  const from = lead + Math.max(0, media.from - shown.mediaSeconds);
  if (isFragmented) return { outcome: "whole", from, to: lead + left };
  if (shown.seconds === 0) {
    return { outcome: "edited", fault: fileFault("VIDEO_EDITS_LENGTH"), ...media, isEmptyEdit: true };
  }
  if (left - shown.seconds > MAX_HIDDEN_END_SECONDS) {
    const fault = fileFault("VIDEO_EDITS_SHOWN", { seconds: shown.seconds.toFixed(1), of: left.toFixed(1) });
    return { outcome: "edited", fault, from, to: length };
  }
  return { outcome: "whole", from, to: lead + Math.min(left, shown.seconds) };
}

/** The part of the media time that a reader which knows only the first shown entry subtracts from each timestamp. */
export function shiftOfFirstEdit(edits: readonly Edit[]): number {
  const firstShown = edits.findIndex(({ mediaSeconds }) => mediaSeconds !== null);
  const shown = edits[firstShown];
  if (shown?.rate !== 1 || shown.mediaSeconds === null) return 0;
  return shown.mediaSeconds - sumOf(edits.slice(0, firstShown));
}

function sumOf(edits: readonly Edit[]): number {
  return edits.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** What the index of an MP4 says about time. */
export interface Mp4Times {
  /** By the track's id. A track without a list is missing. */
  edits: ReadonlyMap<number, readonly Edit[]>;
  isFragmented: boolean;
  /** The index is after the picture data. */
  isIndexLast: boolean;
}

/** Reads an MP4 or QuickTime file whose structure has been checked by `checkMp4`. */
export async function readMp4Times(path: string): Promise<Mp4Times> {
  const file = await open(path, "r");
  try {
    const { boxes } = await readBoxes(file, (await file.stat()).size);
    const order = boxes.map(({ type }) => type);
    const index = boxes.find(({ type }) => type === "moov");
    if (!index) return { edits: new Map(), isFragmented: false, isIndexLast: false };
    const moov = childrenOf(await contentOf(file, index));
    const scale = timescaleOf(moov.find(({ type }) => type === "mvhd")?.content);
    const tracks = moov.filter(({ type }) => type === "trak").map(({ content }) => readTrack(content, scale));
    return {
      edits: new Map(tracks.filter(({ edits }) => edits.length > 0).map(({ id, edits }) => [id, edits])),
      isFragmented: order.includes("moof") || moov.some(({ type }) => type === "mvex"),
      isIndexLast: order.indexOf("moov") > order.indexOf("mdat") && order.includes("mdat"),
    };
  } finally {
    await file.close();
  }
}

function readTrack(trak: Buffer, movieScale: number): { id: number; edits: Edit[] } {
  const header = contentAt(trak, "tkhd") ?? Buffer.alloc(24);
  const list = contentAt(trak, "edts", "elst");
  return {
    id: header.readUInt32BE(header[0] === 1 ? 20 : 12),
    edits: list ? readEdits(list, movieScale, timescaleOf(contentAt(trak, "mdia", "mdhd"))) : [],
  };
}

/** Of a movie or of a track: both headers begin alike. */
function timescaleOf(header: Buffer | undefined): number {
  const scale = header && header.length >= 24 ? header.readUInt32BE(header[0] === 1 ? 20 : 12) : 0;
  if (scale === 0) throw new RangeError("the index has no timescale");
  return scale;
}

function readEdits(list: Buffer, movieScale: number, mediaScale: number): Edit[] {
  const isLong = list[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  const count = Math.min(list.readUInt32BE(4), Math.floor((list.length - 8) / entryBytes));
  return Array.from({ length: count }, (_, index) => {
    const at = 8 + index * entryBytes;
    const duration = isLong ? Number(list.readBigUInt64BE(at)) : list.readUInt32BE(at);
    const mediaTime = isLong ? Number(list.readBigInt64BE(at + 8)) : list.readInt32BE(at + 4);
    return {
      seconds: duration / movieScale,
      mediaSeconds: mediaTime === -1 ? null : mediaTime / mediaScale,
      rate: list.readInt32BE(at + entryBytes - 4) / 65_536,
    };
  });
}
