import type { ListedEvent } from "@intermission/ad-core/client-api";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { AdServiceClient } from "../ad-service-client.ts";
import { bookEvents, isStorable } from "./book-events.ts";
import type { EventLine, Payout } from "./schema.ts";

export interface ReconcileOptions {
  database: Database<unknown>;
  adService: Pick<AdServiceClient, "listEvents">;
  botId: string;
  payout: Payout;
  /** Younger events are left to their webhooks, whose bytes are worth keeping. */
  settleAfterSeconds: number;
}

export type ReconcileOutcome =
  | { outcome: "done"; booked: number }
  | { outcome: "not-offered" }
  | { outcome: "unavailable"; detail: string };

interface Progress {
  started_at: Date;
  cursor: string | null;
}

const startOnce = statement<unknown>(
  "start-reconciliation",
  "insert into reconciliations (bot_id) values ($1) on conflict (bot_id) do nothing",
);
const readProgress = statement<Progress>(
  "read-reconciliation",
  "select started_at, cursor from reconciliations where bot_id = $1",
);
const keepCursor = statement<unknown>(
  "keep-reconciliation-cursor",
  "update reconciliations set cursor = $2 where bot_id = $1 and cursor is not distinct from $3",
);

const pageSize = 500;

/**
 * Reads the ad service's own list of events since the last time, and books what no webhook brought. Events from before
 * this API's first start are not booked: another receiver may have paid them.
 */
export async function reconcileEvents(options: ReconcileOptions, now: Date): Promise<ReconcileOutcome> {
  const { database, adService, botId, payout } = options;
  await database.run(startOnce, [botId]);
  let booked = 0;
  for (;;) {
    const [progress] = await database.run(readProgress, [botId]);
    if (!progress) throw new Error("the reconciliation's row is gone");
    const listed = await adService.listEvents(progress.cursor, pageSize);
    if (listed.outcome !== "listed") return listed;
    const { events, next, has_more: hasMore } = listed.page;
    const youngest = new Date(now.getTime() - options.settleAfterSeconds * 1000);
    const ripe = events.filter((event) => new Date(event.occurred_at) <= youngest);
    const lines = ripe
      .filter((event) => isOurs(event, botId, progress.started_at))
      .map(lineOf)
      .filter(isStorable);
    // A page with a young event is read again the next time; what was booked from it is then known.
    const isFinished = ripe.length === events.length;
    booked += await database.transaction(async (tx) => {
      const entries = lines.length === 0 ? [] : await bookEvents(tx, botId, payout, lines);
      if (isFinished && next !== progress.cursor) await tx.run(keepCursor, [botId, next, progress.cursor]);
      return entries.reduce((sum, { events }) => sum + events, 0);
    });
    if (!isFinished || !hasMore || next === progress.cursor) return { outcome: "done", booked };
  }
}

function isOurs(event: ListedEvent, botId: string, startedAt: Date): boolean {
  return (
    event.bot_id === botId && /^(0|[1-9]\d{0,19})$/.test(event.user_tg_id) && new Date(event.occurred_at) >= startedAt
  );
}

function lineOf(event: ListedEvent): EventLine {
  return {
    eventId: event.event_id,
    event: event.event,
    userId: event.user_tg_id,
    code: event.code ?? null,
    reference: event.reference || null,
    occurredAt: event.occurred_at,
    isTest: event.test === true || event.user_tg_id === "0",
    rawBody: null,
    signatureHeader: null,
    isTwoField: false,
  };
}
