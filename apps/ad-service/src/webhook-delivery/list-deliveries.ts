import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import type { DeliveryState, EndReason } from "./schema.ts";

export interface ListedDelivery {
  botId: string;
  eventId: string;
  event: "rewarded" | "direct_link";
  userId: string;
  isTest: boolean;
  state: DeliveryState;
  attempts: number;
  /** When the next attempt is due, while `waiting`. */
  dueAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Why it will not be sent again by itself, when `failed` or `unknown`. */
  endReason: EndReason | null;
}

/**
 * Newest first: event ids begin with their time. `before` is the event id that the last page ended with.
 *
 * A page of each bot by its index, and the newest of these: the cost is that of the pages, however many events there are.
 */
export async function listDeliveries(
  database: AdDatabase,
  wanted: { botId?: string | undefined; state?: DeliveryState | undefined; before?: string | undefined; limit: number },
): Promise<ListedDelivery[]> {
  const { botId, state, before, limit } = wanted;
  let bots = database.query.selectFrom("bots");
  if (botId !== undefined) bots = bots.where("bots.bot_id", "=", botId);
  const newest = bots
    .innerJoinLateral(
      (from) => {
        let ofBot = from.selectFrom("deliveries").selectAll().whereRef("deliveries.bot_id", "=", "bots.bot_id");
        // A literal, so that the planner may take a partial index.
        if (state !== undefined) ofBot = ofBot.where("state", "=", sql.lit(state));
        if (before !== undefined) ofBot = ofBot.where("event_id", "<", before);
        return ofBot.orderBy("event_id", "desc").limit(limit).as("of_bot");
      },
      (join) => join.onTrue(),
    )
    .selectAll("of_bot")
    .orderBy("event_id", "desc")
    .limit(limit);
  const rows = await database.query
    .selectFrom(newest.as("newest"))
    .innerJoin("events", (join) =>
      join.onRef("events.bot_id", "=", "newest.bot_id").onRef("events.event_id", "=", "newest.event_id"),
    )
    .selectAll("newest")
    .select(["events.event", "events.user_id", "events.is_test"])
    .orderBy("newest.event_id", "desc")
    .execute();
  return rows.map(listedDelivery);
}

/** A delivery's row with what its event adds, as an operator sees it. */
export function listedDelivery(row: {
  bot_id: string;
  event_id: string;
  event: ListedDelivery["event"];
  user_id: string;
  is_test: boolean;
  state: DeliveryState;
  attempts: number;
  due_at: Date;
  created_at: Date;
  finished_at: Date | null;
  end_reason: EndReason | null;
}): ListedDelivery {
  const isOver = row.state === "failed" || row.state === "unknown";
  return {
    botId: row.bot_id,
    eventId: row.event_id,
    event: row.event,
    userId: row.user_id,
    isTest: row.is_test,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.state === "waiting" ? row.due_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    endReason: isOver ? row.end_reason : null,
  };
}
