import { ledgerEventType } from "@intermission/ad-core/event-words";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { Logger } from "@intermission/server/logger";
import type { AdServiceClient, ListedEvent, ListedEvents } from "../ad-service-client.ts";
import type { Payout } from "../bots/bot-records.ts";
import { logRecorded } from "./log-recorded.ts";
import type { EventLine } from "./record-events.ts";
import { isStorableLine, recordEvents, revenueIn } from "./record-events.ts";

export interface ReconcileOptions {
  database: Pick<Database, "run" | "transaction">;
  adService: Pick<AdServiceClient, "listEvents">;
  botId: string;
  payout: Payout;
  /** Younger events are left to their webhooks, whose bytes should be kept, unless these are not on their way. */
  settleAfterSeconds: number;
  stopping: AbortSignal;
  logger: Pick<Logger, "debug" | "info" | "isLevelEnabled">;
}

export interface Reconciled {
  /** `more`: there were too many pages for one round. */
  outcome: "done" | "more" | "not-offered" | "unavailable";
  /** Events that no webhook delivered. */
  recorded: number;
  /** Entries on the pages read whose kind this version does not know. */
  unreadable: number;
  /** The list changed or no longer contains our position, and was read from its start. */
  hasRestarted: boolean;
  /** The service's answer instead of a list. */
  detail?: string;
}

/** The start of the last page that held an event, and the last settled event on it. */
interface Place {
  cursor: string | null;
  settledEventId: string | null;
}

const startOnce = statement<never>(
  "reconciliation.start",
  "insert into reconciliations (bot_id) values ($1) on conflict (bot_id) do nothing",
);
const readPlace = statement<Place & { startedAt: Date }>(
  "reconciliation.read",
  'select started_at as "startedAt", cursor, settled_event_id as "settledEventId" from reconciliations where bot_id = $1',
);
// Two nodes that reconcile concurrently may set each other back: some events are then read twice, and recorded once.
const keepPlace = statement<never>(
  "reconciliation.keep-place",
  "update reconciliations set cursor = $2, settled_event_id = $3 where bot_id = $1",
);

const PAGE_SIZE = 500;
const MAX_PAGES_PER_ROUND = 200;
/** Pages that a round reads beyond the first event that it leaves to its webhook. */
const MAX_UNSETTLED_PAGES = 10;

/**
 * Reads the ad service's own list of events since the last time, and records those that no webhook delivered. Events
 * from before this API's first start are not recorded: another receiver may have paid them.
 * The last page is read again each time. If the event that was last settled is no longer on it, the service was
 * restored from a backup, its new events may be before our position, and the list is read from its start. None of this
 * can pay twice, since each event's id is its receipt's key.
 */
export async function reconcileEvents(options: ReconcileOptions, now: Date): Promise<Reconciled> {
  const { database, adService, botId } = options;
  await database.run(startOnce, [botId]);
  const [row] = await database.run(readPlace, [botId]);
  if (!row) throw new Error("the reconciliation's row is gone");
  const done: Reconciled = { outcome: "done", recorded: 0, unreadable: 0, hasRestarted: false };
  let place: Place = { cursor: row.cursor, settledEventId: row.settledEventId };
  // Once an event is left to its webhook, the position stays before it.
  let unsettledPages: number | undefined;

  for (let pages = 0; pages < MAX_PAGES_PER_ROUND && !options.stopping.aborted; pages++) {
    const page = await readPage(adService, place);
    if (page.outcome === "bad-cursor") {
      if (done.hasRestarted) return { ...done, outcome: "unavailable", detail: "its own cursor is refused" };
      done.hasRestarted = true;
      unsettledPages = undefined;
      place = { cursor: null, settledEventId: null };
      continue;
    }
    if (page.outcome === "not-offered") return { ...done, outcome: "not-offered" };
    if (page.outcome === "unavailable") return { ...done, outcome: "unavailable", detail: page.detail };

    done.unreadable += page.unreadable;
    const { recorded, settled } = await recordRipe(options, page.events, row.startedAt, now);
    done.recorded += recorded;
    const last = settled.at(-1);
    if (last && unsettledPages === undefined) await database.run(keepPlace, [botId, place.cursor, last.event_id]);
    if (unsettledPages !== undefined) unsettledPages += 1;
    else if (settled.length < page.events.length) unsettledPages = 0;
    if (unsettledPages === MAX_UNSETTLED_PAGES || !page.hasMore || page.next === place.cursor) return done;
    place = { cursor: page.next, settledEventId: null };
  }
  return { ...done, outcome: "more" };
}

/**
 * The page at a position without its settled events; a page that no longer contains the settled event makes the
 * position invalid.
 */
async function readPage(
  adService: ReconcileOptions["adService"],
  { cursor, settledEventId }: Place,
): Promise<ListedEvents> {
  const listed = await adService.listEvents(cursor, PAGE_SIZE);
  if (listed.outcome !== "listed" || settledEventId === null) return listed;
  const index = listed.events.findLastIndex((event) => event.event_id === settledEventId);
  if (index === -1) return { outcome: "bad-cursor" };
  return { ...listed, events: listed.events.slice(index + 1) };
}

/** Clocks may differ by this much. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** Whether a young event's webhook may arrive within moments. One that waits may do so for minutes: this API was away. */
const isOnItsWay = {
  waiting: false,
  sending: true,
  delivered: true,
  failed: false,
  held: false,
  unknown: false,
  "not-kept": false,
} satisfies Record<NonNullable<ListedEvent["delivery"]>, boolean>;

/**
 * Records all events that are old enough, those whose webhook is not on its way, and those that a wrong clock dated ahead:
 * waiting for their date would keep all that follow waiting. Events before the first young one are settled; the rest are
 * checked again the next time.
 */
async function recordRipe(
  { database, botId, payout, settleAfterSeconds, logger }: ReconcileOptions,
  news: ListedEvent[],
  startedAt: Date,
  now: Date,
): Promise<{ recorded: number; settled: ListedEvent[] }> {
  const ripeAt = now.getTime() - settleAfterSeconds * 1000;
  const isRipe = ({ occurred_at, delivery }: ListedEvent) => {
    if (delivery !== undefined && !isOnItsWay[delivery]) return true;
    const occurredAt = Date.parse(occurred_at);
    return occurredAt <= ripeAt || occurredAt > now.getTime() + MAX_CLOCK_SKEW_MS;
  };
  const isOurs = (event: ListedEvent) => event.bot_id === botId && Date.parse(event.occurred_at) >= startedAt.getTime();
  const lines = news
    .filter((event) => isRipe(event) && isOurs(event))
    .flatMap(lineOf)
    .filter(isStorableLine);
  const counts = await recordEvents(database, botId, payout, lines);
  logRecorded(logger, { botId, source: "reconciliation" }, lines, counts);
  const unripe = news.findIndex((event) => !isRipe(event));
  return {
    recorded: counts.reduce((sum, { events }) => sum + events, 0),
    settled: unripe === -1 ? news : news.slice(0, unripe),
  };
}

/** None of an interstitial, which rewards nobody. */
function lineOf(event: ListedEvent): EventLine[] {
  const kind = ledgerEventType.safeParse(event.event);
  if (!kind.success) return [];
  const line = {
    eventId: event.event_id,
    event: kind.data,
    userId: event.user_tg_id,
    code: event.code ?? null,
    reference: event.reference || null,
    startParam: event.start_param ?? null,
    revenue: revenueIn(event),
    occurredAt: event.occurred_at,
    isTest: event.test === true || event.user_tg_id === "0",
    rawBody: null,
    signatureHeader: null,
  };
  return [line];
}
