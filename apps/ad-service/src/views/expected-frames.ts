import { type Database, statement } from "@intermission/postgres/open-database";
import { BoundedCache } from "@intermission/server/bounded-cache";
import type { Range } from "./accept-progress.ts";

/** How many frames of a video begin in each of its seconds. After the last one its picture stands still. */
export type FramesBySecond = readonly number[];

/** How many frames the file has in a range, in milliseconds; those of a second in part are counted in part. */
export function expectedFrames(file: FramesBySecond, [fromMs, toMs]: Range): number {
  let frames = 0;
  const end = Math.min(toMs, file.length * 1000);
  for (let second = Math.floor(fromMs / 1000); second * 1000 < end; second++) {
    const overlapMs = Math.min(end, (second + 1) * 1000) - Math.max(fromMs, second * 1000);
    frames += ((file[second] ?? 0) * overlapMs) / 1000;
  }
  return frames;
}

/** What the service knows of a creative's video; null if it has not seen it. It never changes. */
interface SeenVideo {
  framesBySecond: FramesBySecond | null;
}

/** Videos that are remembered, at some 300 bytes each. */
const MAX_REMEMBERED = 2000;

/** The videos of the creatives that this node showed last. */
export type SeenVideos = BoundedCache<string, SeenVideo>;

export function seenVideos(): SeenVideos {
  return new BoundedCache(MAX_REMEMBERED);
}

const read = statement<SeenVideo>(
  "creatives.frames-by-second",
  `select frames_by_second as "framesBySecond" from creatives where creative_id = $1`,
);

/** Reads nothing on the node that opened a view of the creative. Undefined if the service has not seen the video. */
export async function framesOfCreative(
  { database, seen }: { database: Database; seen: SeenVideos },
  creativeId: string,
): Promise<FramesBySecond | undefined> {
  const known = seen.get(creativeId) ?? (await database.run(read, [creativeId]))[0] ?? { framesBySecond: null };
  seen.set(creativeId, known);
  return known.framesBySecond ?? undefined;
}
