import type { EventLine } from "./schema.ts";

/** How often the event came in the same call, after the first time. */
export type BatchLine = EventLine & { repeats: number };

/**
 * Parts lines into batches in which no event, code or user stands twice, each in the order of event ids (the order of time
 * with ids that begin with it). Of two lines of one code or user the lower id is in the earlier batch.
 */
export function splitBatches(lines: readonly EventLine[]): BatchLine[][] {
  const batches: BatchLine[][] = [];
  let waiting = mergeRepeats(lines);
  while (waiting.length > 0) {
    const seen = new Set<string>();
    const batch: BatchLine[] = [];
    const later: BatchLine[] = [];
    for (const line of waiting) {
      const user = `user ${line.userId}`;
      const code = line.code === null ? user : `code ${line.code}`;
      (seen.has(user) || seen.has(code) ? later : batch).push(line);
      seen.add(user).add(code);
    }
    batches.push(batch);
    waiting = later;
  }
  return batches;
}

function mergeRepeats(lines: readonly EventLine[]): BatchLine[] {
  const byId = new Map<string, BatchLine>();
  for (const line of lines) {
    const first = byId.get(line.eventId);
    if (first) first.repeats += 1;
    else byId.set(line.eventId, { ...line, repeats: 0 });
  }
  return [...byId.values()].sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
}
