import type { LedgerEventType } from "@intermission/ad-core/event-words";
import { joinChat } from "@intermission/ad-core/join-reference";
import { readMoment } from "@intermission/ad-core/moment";
import type { WebhookEvent } from "@intermission/ad-core/webhook-event";
import { type Database, type Runner, statement } from "@intermission/postgres/open-database";
import { isStorable } from "@intermission/postgres/storable-text";
import type { Payout } from "../bots/bot-records.ts";

/** One event to be recorded, from any source. Its id makes a repeat harmless. */
export interface EventLine {
  eventId: string;
  event: LedgerEventType;
  userId: string;
  code: string | null;
  reference: string | null;
  /** The publisher's own `startapp` value of the launch. */
  startParam: string | null;
  /** What it is worth to the publisher, where the ad service says so. */
  revenue: { micros: number; currency: string } | null;
  occurredAt: string | null;
  isTest: boolean;
  rawBody: string | null;
  signatureHeader: string | null;
}

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

/** New events. */
export interface RecordedCount {
  /** Why these events pay nothing; null if they pay; `reversed` if they take back what a task has paid. */
  reason: string | null;
  events: number;
  eventIds: string[];
}

// Its SQL is in migrations/0002-tasks.sql.
const recordLines = statement<RecordedCount>(
  "ledger.record",
  'select reason, events, event_ids as "eventIds" from record_lines($1, $2, $3, $4, $5, $6, $7, $8)',
);

/** Both or neither: one of the two says nothing. */
export function revenueIn({ revenue_micros: micros, currency }: WebhookEvent): EventLine["revenue"] {
  return micros === undefined || currency === undefined ? null : { micros, currency };
}

/** Such a line would fail on every retry. */
export function isStorableLine({
  eventId,
  code,
  reference,
}: Pick<EventLine, "eventId" | "code" | "reference">): boolean {
  return [eventId, code, reference].every((text) => text === null || isStorable(text));
}

/**
 * Records the new lines and returns their number. Each event is recorded completely or not at all; several of one user
 * or code commit one after the other.
 */
export async function recordEvents(
  database: Pick<Database, "run" | "transaction">,
  botId: string,
  payout: Payout,
  lines: readonly EventLine[],
): Promise<RecordedCount[]> {
  const counts: RecordedCount[] = [];
  const isOfJoin = ({ reference }: EventLine) => reference !== null && joinChat(reference) !== undefined;
  // What earned a place in a channel earns no coins as well.
  const parts = [
    { paid: payout, part: lines.filter((line) => !isOfJoin(line)) },
    { paid: { ...payout, rewarded: 0, directLink: 0 }, part: lines.filter(isOfJoin) },
  ];
  for (const { paid, part } of parts) {
    for (const batch of part.length === 0 ? [] : splitBatches(part)) {
      try {
        counts.push(...(await recordBatch(database, botId, paid, batch)));
      } catch (error) {
        if (!isConflict(error)) throw error;
        const retry = () => database.transaction((tx) => recordBatch(tx, botId, paid, batch, { isRetry: true }));
        counts.push(...(await retry()));
      }
    }
  }
  return counts;
}

/**
 * One attempt. It fails with a serialisation failure if another transaction records an event of the same code
 * meanwhile; a retry waits for those of the same users first.
 */
export function recordBatch(
  runner: Pick<Runner, "run">,
  botId: string,
  { rewarded, directLink, task, perCode, dailyCap }: Payout,
  batch: readonly BatchLine[],
  { isRetry = false } = {},
): Promise<RecordedCount[]> {
  const lines = jsonOf(batch, dailyCap !== undefined);
  const worth = [rewarded, directLink, task];
  return runner.run(recordLines, [botId, lines, ...worth, perCode === "once", dailyCap ?? null, isRetry]);
}

/** Absent values are null, false or 0. */
function jsonOf(batch: readonly BatchLine[], hasDailyCap: boolean): string {
  return JSON.stringify(
    batch.map(({ line, repeats }) => ({
      event_id: line.eventId,
      event: line.event,
      user_id: line.userId,
      code: line.code ?? undefined,
      reference: line.reference ?? undefined,
      start_param: line.startParam ?? undefined,
      revenue_micros: line.revenue?.micros,
      currency: line.revenue?.currency,
      day: hasDailyCap ? dayOf(line.occurredAt) : undefined,
      is_test: line.isTest || undefined,
      raw_body: line.rawBody ?? undefined,
      signature: line.signatureHeader?.slice("sha256=".length),
      repeats: repeats || undefined,
    })),
  );
}

/** The day in UTC; undefined for an event without a plausible time: it counts for the day of its recording. */
function dayOf(occurredAt: string | null): string | undefined {
  const read = readMoment(occurredAt);
  return read.outcome === "moment" ? read.moment.toISOString().slice(0, "2000-01-01".length) : undefined;
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "40001" || error.code === "40P01");
}
