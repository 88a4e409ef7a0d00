import type { ListedEvent } from "@intermission/ad-core/client-api";
import { decodeCursor, encodeCursor, epochOf, feedStart, placeOfCursor } from "@intermission/postgres/commit-cursor";
import { type Database, statement } from "@intermission/postgres/open-database";

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
  is_test: boolean;
  occurred_at: Date;
  delivery: ListedEvent["delivery"];
}

const select = statement<EventRow>(
  "events.list",
  `select ${epochOf("events.xid")} as epoch, xid, event_id, event, user_id, code, reference, is_test, occurred_at, deliveries.state as delivery
   from events join deliveries using (bot_id, event_id)
   where bot_id = $1 and (xid, event_id) > ($2::xid8, $3) and not is_erased and xid < settled_xid()
   order by xid, event_id limit $4`,
);

/** A bot's events after the cursor, in commit order: a client that follows `next` misses none. */
export async function listEvents(
  database: Database,
  { botId, after, limit }: { botId: string; after?: string | undefined; limit: number },
): Promise<EventsPage> {
  const cursor = after === undefined ? feedStart : decodeCursor(after);
  if (cursor === undefined) return { outcome: "bad-cursor" };
  const place = await placeOfCursor(database, cursor);
  if (place.outcome === "unknown-epoch") return { outcome: "lost-cursor" };
  const rows = await database.run(select, [botId, place.xid, place.id, limit + 1]);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next = last ? encodeCursor({ epoch: last.epoch, xid: last.xid, id: last.event_id }) : encodeCursor(cursor);
  return { outcome: "page", events: page.map((row) => listedEvent(botId, row)), next, hasMore: rows.length > limit };
}

function listedEvent(botId: string, row: EventRow): ListedEvent {
  return {
    event_id: row.event_id,
    event: row.event,
    bot_id: botId,
    user_tg_id: row.user_id,
    ...(row.code !== null && { code: row.code }),
    ...(row.reference !== null && { reference: row.reference }),
    occurred_at: row.occurred_at.toISOString(),
    ...(row.is_test && { test: true as const }),
    delivery: row.delivery,
  };
}
