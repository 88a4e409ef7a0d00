import { firstEventIdAt } from "@intermission/ad-core/code";
import type { ListedEvent } from "@intermission/ad-core/listed-event";
import { decodeCursor, encodeCursor, epochOf, feedStart, placeOfCursor } from "@intermission/postgres/commit-cursor";
import { type Database, statement } from "@intermission/postgres/open-database";
import { revenueFields } from "../campaigns/event-worth.ts";

export type EventsPage =
  | { outcome: "page"; events: ListedEvent[]; next: string; hasMore: boolean }
  | { outcome: "bad-cursor" }
  /** The cursor was issued after the backup from which this service was restored. */
  | { outcome: "lost-cursor" };

interface EventRow {
  epoch: string;
  xid: string;
  event_id: string;
  event: ListedEvent["event"];
  user_id: string;
  code: string | null;
  reference: string | null;
  start_param: string | null;
  client_note: string | null;
  revenue_micros: number | null;
  is_test: boolean;
  occurred_at: Date;
  delivery: ListedEvent["delivery"];
}

/**
 * An event stays when its webhook is no longer kept. Looked up for each listed event: in a join, the planner may take the bot
 * alone as the key, and read all webhooks of the bot for each page.
 */
const deliveryIn = `coalesce((
       select state from deliveries where deliveries.bot_id = events.bot_id and deliveries.event_id = events.event_id
     ), 'not-kept') as delivery`;

const columns = `${epochOf("events.xid")} as epoch, xid, event_id, event, user_id, code, reference, start_param,
     client_note, revenue_micros, is_test, occurred_at, ${deliveryIn}`;
const ofFeed = "bot_id = $1 and not is_erased and xid < settled_xid()";
/** By an index of their own: hidden ones, which no cursor passes, would be read again at each poll. */
const isShown = "event <> 'interstitial'";

const textOfList = (where: string) => `select ${columns} from events
   where ${where} and (xid, event_id) > ($2::xid8, $3) order by xid, event_id limit $4`;
// By the index of the feed, from its end.
const textOfEnd = (where: string) => `select ${columns} from events
   where ${where} order by xid desc, event_id desc limit $2`;

const select = statement<EventRow>("events.list", textOfList(ofFeed));
const selectShown = statement<EventRow>("events.list-shown", textOfList(`${ofFeed} and ${isShown}`));
const selectEnd = statement<EventRow>("events.list-end", textOfEnd(ofFeed));
const selectEndShown = statement<EventRow>("events.list-end-shown", textOfEnd(`${ofFeed} and ${isShown}`));

/** Whether and in which currency a list says what its events are worth. */
interface ListedWorth {
  includeRevenue: boolean;
  currency: string;
}

const noWorth: ListedWorth = { includeRevenue: false, currency: "" };

interface Listed {
  /** False for a publisher that asks for none: it may not know the word. */
  hasInterstitials?: boolean;
}

/** A bot's events after the cursor, in commit order: a client that follows `next` misses none. */
export async function listEvents(
  database: Database,
  query: { botId: string; after?: string | undefined; limit: number; worth?: ListedWorth } & Listed,
): Promise<EventsPage> {
  const { botId, after, limit, worth = noWorth, hasInterstitials = true } = query;
  const cursor = after === undefined ? feedStart : decodeCursor(after);
  if (cursor === undefined) return { outcome: "bad-cursor" };
  const place = await placeOfCursor(database, cursor);
  if (place.outcome === "unknown-epoch") return { outcome: "lost-cursor" };
  const rows = await database.run(hasInterstitials ? select : selectShown, [botId, place.xid, place.id, limit + 1]);
  return pageOf(rows.slice(0, limit), { botId, worth, from: cursor, hasMore: rows.length > limit });
}

/** The latest of a bot's events, in commit order: a client that follows `next` misses none of those to come. */
export async function listEndOfEvents(
  database: Database,
  query: { botId: string; latest: number; worth?: ListedWorth } & Listed,
): Promise<Extract<EventsPage, { outcome: "page" }>> {
  const { botId, latest, worth = noWorth, hasInterstitials = true } = query;
  const rows = await database.run(hasInterstitials ? selectEnd : selectEndShown, [botId, latest]);
  return pageOf(rows.toReversed(), { botId, worth, from: feedStart, hasMore: false });
}

function pageOf(
  rows: readonly EventRow[],
  { botId, worth, from, hasMore }: { botId: string; worth: ListedWorth; from: typeof feedStart; hasMore: boolean },
) {
  const last = rows.at(-1);
  const end = last ? { epoch: last.epoch, xid: last.xid, id: last.event_id } : from;
  const events = rows.map((row) => listedEventOf(row, { botId, worth }));
  return { outcome: "page" as const, events, next: encodeCursor(end), hasMore };
}

function listedEventOf(
  row: Omit<EventRow, "epoch" | "xid">,
  { botId, worth }: { botId: string; worth: ListedWorth },
): ListedEvent {
  return {
    event_id: row.event_id,
    event: row.event,
    bot_id: botId,
    user_tg_id: row.user_id,
    ...(row.code !== null && { code: row.code }),
    ...(row.reference !== null && { reference: row.reference }),
    ...(row.start_param !== null && { start_param: row.start_param }),
    ...(row.client_note !== null && { client_note: row.client_note }),
    occurred_at: row.occurred_at.toISOString(),
    ...revenueFields(row.revenue_micros, worth),
    ...(row.is_test && { test: true as const }),
    delivery: row.delivery,
  };
}

/** Events have their own time in their ids, by clocks that differ by a minute at most: all but those of released clicks. */
const ID_SLACK_MS = 5 * 60 * 1000;

type LatestRow = Omit<EventRow, "epoch" | "xid">;
const latestColumns = `event_id, event, user_id, code, reference, start_param, client_note, revenue_micros, is_test, occurred_at,
     ${deliveryIn}`;

const latest = statement<LatestRow>(
  "events.list-latest",
  `select ${latestColumns}
   from events
   where bot_id = $1 and not is_erased and event_id < $2 and event_id >= $3
     and occurred_at >= $4 and occurred_at < $5
   order by event_id desc limit $6`,
);
/**
 * Held clicks that were released in a period, $4 to $5, with ids below $2 and $3: an id is of the click's time, any number of
 * weeks before.
 */
const releasedLater = statement<LatestRow>(
  "events.list-released-later",
  `select ${latestColumns}
   from events
   where bot_id = $1 and is_released and not is_erased and event_id < $2 and event_id < $3
     and occurred_at >= $4 and occurred_at < $5
   order by event_id desc limit $6`,
);
const latestOfUser = statement<LatestRow>(
  "events.list-latest-of-user",
  `select ${latestColumns}
   from events
   where bot_id = $1 and user_id = $6 and not is_erased and event_id < $2
     and occurred_at >= $3 and occurred_at < $4
   order by occurred_at desc, event_id desc limit $5`,
);

const forever = { from: new Date(0), to: new Date("9999-01-01T00:00:00Z") };
/** Above every id in any collation: their digits are hexadecimal. */
const LAST_ID = "evt_g";

interface LatestQuery {
  botId: string;
  from?: Date | undefined;
  to?: Date | undefined;
  before?: string | undefined;
  limit: number;
}

/** A bot's events, newest first: of one user, and of a period. `before` continues an earlier list. */
export async function listLatestEvents(
  database: Pick<Database, "run">,
  { userId, worth = noWorth, ...query }: LatestQuery & { userId?: string | undefined; worth?: ListedWorth },
): Promise<ListedEvent[]> {
  const { botId, from = forever.from, to = forever.to, before = LAST_ID, limit } = query;
  const rows =
    userId === undefined
      ? await latestOfBot(database, query)
      : await database.run(latestOfUser, [botId, before, from, to, limit, userId]);
  return rows.map((row) => listedEventOf(row, { botId, worth }));
}

/** By the ids of the period, so that events before and behind it are not read. */
async function latestOfBot(database: Pick<Database, "run">, query: LatestQuery): Promise<LatestRow[]> {
  const { botId, from, to, before = LAST_ID, limit } = query;
  const behind = to === undefined ? LAST_ID : firstEventIdAt(new Date(to.getTime() + ID_SLACK_MS));
  const [below = LAST_ID] = [before, behind].toSorted();
  const period = [from ?? forever.from, to ?? forever.to];
  if (from === undefined) return database.run(latest, [botId, below, "", ...period, limit]);
  const first = firstEventIdAt(new Date(from.getTime() - ID_SLACK_MS));
  const rows = await database.run(latest, [botId, below, first, ...period, limit]);
  if (rows.length === limit) return rows;
  // Their ids are all below those of the others.
  return [...rows, ...(await database.run(releasedLater, [botId, below, first, ...period, limit]))].slice(0, limit);
}
