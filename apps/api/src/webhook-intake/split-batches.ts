import type { EventLine } from "./schema.ts";

export interface BatchLine {
  readonly line: EventLine;
  /** Repeats of the event in the same call. */
  repeats: number;
}

/**
 * Splits lines into batches in which no event, code or user occurs twice. Of two lines of one code or user the lower
 * event id (the order of time if ids begin with it) is in the earlier batch.
 */
export function splitBatches(lines: readonly EventLine[]): BatchLine[][] {
  const merged = mergeRepeats(lines);
  const { batch, later } = parted(merged);
  if (later.length === 0) return [batch];
  const batches: BatchLine[][] = [];
  let waiting = merged.sort((a, b) => (a.line.eventId < b.line.eventId ? -1 : 1));
  while (waiting.length > 0) {
    const { batch, later } = parted(waiting);
    batches.push(batch);
    waiting = later;
  }
  return batches;
}

/** The lines whose code and user do not occur in an earlier line, and the others. */
function parted(waiting: readonly BatchLine[]): { batch: BatchLine[]; later: BatchLine[] } {
  const users = new Set<string>();
  const codes = new Set<string>();
  const batch: BatchLine[] = [];
  const later: BatchLine[] = [];
  for (const each of waiting) {
    const { userId, code } = each.line;
    const isSeen = users.has(userId) || (code !== null && codes.has(code));
    (isSeen ? later : batch).push(each);
    users.add(userId);
    if (code !== null) codes.add(code);
  }
  return { batch, later };
}

function mergeRepeats(lines: readonly EventLine[]): BatchLine[] {
  const byId = new Map<string, BatchLine>();
  for (const line of lines) {
    const first = byId.get(line.eventId);
    if (first) first.repeats += 1;
    else byId.set(line.eventId, { line, repeats: 0 });
  }
  return [...byId.values()];
}
