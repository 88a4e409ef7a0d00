import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { Logger } from "@intermission/server/logger";
import type { AdServiceClient, ListedEvent, ListedEvents } from "../ad-service-client.ts";
import type { Payout } from "../bots/bot-records.ts";
import { logRecorded } from "./log-recorded.ts";
import type { EventLine } from "./record-events.ts";
import { isStorable, recordEvents, revenueIn } from "./record-events.ts";

export interface ReconcileOptions {
  database: Pick<Database, "run" | "transaction">;
  adService: Pick<AdServiceClient, "listEvents">;
  botId: string;
  payout: Payout;
  /** Younger events are left to their webhooks, whose bytes should be kept. */
  settleAfterSeconds: number;
  stopping: AbortSignal;
  logger: Pick<Logger, "info">;
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

  for (let pages = 0; pages < MAX_PAGES_PER_ROUND && !options.stopping.aborted; pages++) {
    const page = await readPage(adService, place);
    if (page.outcome === "bad-cursor") {
      if (done.hasRestarted) return { ...done, outcome: "unavailable", detail: "its own cursor is refused" };
      done.hasRestarted = true;
      place = { cursor: null, settledEventId: null };
      continue;
    }
    if (page.outcome === "not-offered") return { ...done, outcome: "not-offered" };
    if (page.outcome === "unavailable") return { ...done, outcome: "unavailable", detail: page.detail };

    done.unreadable += page.unreadable;
    const { recorded, settled } = await recordRipe(options, page.events, row.startedAt, now);
    done.recorded += recorded;
    const last = settled.at(-1);
    if (last) await database.run(keepPlace, [botId, place.cursor, last.event_id]);
    if (settled.length < page.events.length || !page.hasMore || page.next === place.cursor) return done;
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

/**
 * Records all events that are old enough, and those that a wrong clock dated ahead: waiting for their date would keep all that
 * follow waiting. Events before the first young one are settled; the rest are checked again the
 * next time.
 */
async function recordRipe(
  { database, botId, payout, settleAfterSeconds, logger }: ReconcileOptions,
  news: ListedEvent[],
  startedAt: Date,
  now: Date,
): Promise<{ recorded: number; settled: ListedEvent[] }> {
  const ripeAt = now.getTime() - settleAfterSeconds * 1000;
  const isRipe = ({ occurred_at }: ListedEvent) => {
    const occurredAt = Date.parse(occurred_at);
    return occurredAt <= ripeAt || occurredAt > now.getTime() + MAX_CLOCK_SKEW_MS;
  };
  const isOurs = (event: ListedEvent) => event.bot_id === botId && Date.parse(event.occurred_at) >= startedAt.getTime();
  const lines = news
    .filter((event) => isRipe(event) && isOurs(event))
    .map(lineOf)
    .filter(isStorable);
  const counts = await recordEvents(database, botId, payout, lines);
  logRecorded(logger, { botId, source: "reconciliation" }, lines, counts);
  const unripe = news.findIndex((event) => !isRipe(event));
  return {
    recorded: counts.reduce((sum, { events }) => sum + events, 0),
    settled: unripe === -1 ? news : news.slice(0, unripe),
  };
}

function lineOf(event: ListedEvent): EventLine {
  return {
    eventId: event.event_id,
    event: event.event,
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
}

const pauseSeconds: Record<Reconciled["outcome"], number> = {
  done: 60,
  more: 1,
  unavailable: 60,
  // A service of another vendor: it may add the endpoint later.
  "not-offered": 6 * 3600,
};

/** What the reconciliation of one bot needs. */
export interface ReconciledBot {
  readonly id: string;
  readonly payout: Payout;
  readonly adService: Pick<AdServiceClient, "listEvents">;
}

export interface ReconcilingOptions extends Pick<ReconcileOptions, "database" | "settleAfterSeconds"> {
  /** The bots now: a bot that joins is reconciled within a second. */
  bots: () => readonly ReconciledBot[];
  logger: Pick<Logger, "info" | "warn" | "error">;
  now?: () => Date;
  onRecorded: () => void;
  /** Called after each round of a bot, whatever its outcome. */
  onRound?: (result: Reconciled, botId: string) => void;
}

/** A bot whose list is slow must not delay the others; the ad service must not be flooded. */
const MAX_AT_ONCE = 4;
const LOOK_FOR_BOTS_MS = 1000;

/** Reconciles each bot immediately and then each minute; a stop also ends the requests under way. */
export function startReconciling(options: ReconcilingOptions): BackgroundLoop {
  const { bots, logger, now: clock = () => new Date(), onRecorded, onRound = () => {} } = options;
  const dueAt = new Map<string, number>();
  const running = new Map<string, Promise<void>>();

  async function reconcile({ id: botId, payout, adService }: ReconciledBot, stopping: AbortSignal): Promise<void> {
    const { database, settleAfterSeconds } = options;
    const reconcileOptions = { database, adService, botId, payout, settleAfterSeconds, stopping, logger };
    const result = await reconcileEvents(reconcileOptions, clock()).catch((cause: unknown): Reconciled => {
      logger.error({ err: cause, botId }, "reconciliation failed");
      const nothing = { recorded: 0, unreadable: 0, hasRestarted: false };
      return { outcome: "unavailable", ...nothing, detail: "an error of our own" };
    });
    dueAt.set(botId, performance.now() + pauseSeconds[result.outcome] * 1000);
    if (result.recorded > 0) onRecorded();
    onRound(result, botId);
    report(logger, botId, result);
  }

  function startDue(stopping: AbortSignal): void {
    if (stopping.aborted) return;
    const now = performance.now();
    const served = bots();
    // The one that waits longest comes first, so that none is left out when there are many.
    const due = served
      .filter(({ id }) => !running.has(id) && (dueAt.get(id) ?? 0) <= now)
      .sort((a, b) => (dueAt.get(a.id) ?? 0) - (dueAt.get(b.id) ?? 0));
    for (const bot of due.slice(0, MAX_AT_ONCE - running.size)) {
      const end = () => {
        running.delete(bot.id);
        startDue(stopping);
      };
      const onFault = (error: unknown) => logger.error({ err: error }, "reconciliation could not be reported");
      running.set(bot.id, reconcile(bot, stopping).catch(onFault).then(end));
    }
  }

  const loop = startLoop({
    everyMs: LOOK_FOR_BOTS_MS,
    async round(stopping) {
      const ids = new Set(bots().map(({ id }) => id));
      for (const id of dueAt.keys()) if (!ids.has(id)) dueAt.delete(id);
      startDue(stopping);
      return LOOK_FOR_BOTS_MS;
    },
    onFault: (error) => logger.error({ err: error }, "reconciliation could not be started"),
  });
  return {
    health: loop.health,
    async stop() {
      await loop.stop();
      await Promise.all(running.values());
    },
  };
}

function report(
  logger: ReconcilingOptions["logger"],
  botId: string,
  { outcome, recorded, unreadable, hasRestarted, detail }: Reconciled,
): void {
  if (recorded > 0) logger.info({ botId, recorded }, "recorded events that no webhook delivered");
  if (unreadable > 0)
    logger.warn({ botId, unreadable }, "the ad service lists events of a kind unknown to this version");
  if (hasRestarted)
    logger.warn({ botId }, "the ad service's list was read from its start: it no longer contains our position");
  if (outcome === "unavailable")
    logger.warn(
      { botId, detail },
      "the ad service lists no events now: check AD_SERVICE_URL and the bot's API token if it goes on",
    );
}
