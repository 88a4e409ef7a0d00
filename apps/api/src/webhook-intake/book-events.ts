import { type Runner, statement } from "@intermission/postgres/open-database";
import type { EventLine, Payout } from "./schema.ts";
import { type BatchLine, splitBatches } from "./split-batches.ts";

/** How many events were new. */
export interface BookedCount {
  /** Why these pay nothing; null where they pay. */
  reason: string | null;
  events: number;
}

// Its SQL stands in migrations/0003-book-events.ts.
const bookLines = statement<BookedCount>(
  "book-events",
  "select reason, events from book_events($1, $2, $3, $4, $5, $6, $7)",
);

/** PostgreSQL's text holds neither U+0000 nor half a surrogate pair; such a line would fail again and again. */
export function isStorable({ eventId, code, reference }: Pick<EventLine, "eventId" | "code" | "reference">): boolean {
  return [eventId, code, reference].every((text) => text === null || (text.isWellFormed() && !text.includes("\0")));
}

/**
 * Books what is new among the lines and returns how many that were. Each event is booked whole or not at all; several of
 * one user or code commit one after the other.
 */
export async function bookEvents(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  payout: Payout,
  lines: readonly EventLine[],
): Promise<BookedCount[]> {
  const { rewarded, directLink, perCode, dailyCap = null } = payout;
  const counts: BookedCount[] = [];
  for (const batch of splitBatches(lines)) {
    const isTwoField = batch.some((line) => line.isTwoField);
    const values = [botId, jsonOf(batch), isTwoField, rewarded, directLink, perCode === "once", dailyCap];
    counts.push(...(await runner.run(bookLines, values)));
  }
  return counts;
}

function jsonOf(batch: readonly BatchLine[]): string {
  return JSON.stringify(
    batch.map((line) => ({
      event_id: line.eventId,
      event: line.event,
      user_id: line.userId,
      code: line.code,
      reference: line.reference,
      occurred_at: storableMoment(line.occurredAt),
      is_test: line.isTest,
      raw_body: line.rawBody,
      signature_header: line.signatureHeader,
      repeats: line.repeats,
    })),
  );
}

/**
 * In UTC: PostgreSQL has no offsets of 16 hours and more. It has no year 0 either: what claims to have been earned before
 * the year 2000, or in no year at all, counts for the day it was booked on.
 */
function storableMoment(text: string | null): string | null {
  const moment = new Date(text ?? Number.NaN);
  return moment.getTime() >= Date.UTC(2000) && moment.getTime() < Date.UTC(9999) ? moment.toISOString() : null;
}
