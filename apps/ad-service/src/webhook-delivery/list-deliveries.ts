import type { AdDatabase } from "../ad-database.ts";
import type { DeliveryState } from "./schema.ts";

export interface ListedDelivery {
  botId: string;
  eventId: string;
  event: "rewarded" | "direct_link";
  userId: string;
  state: DeliveryState;
  attempts: number;
  /** When the next attempt is due, while `waiting`. */
  dueAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
}

/** Newest first: event ids begin with their time. `before` is the event id that the last page ended with. */
export async function listDeliveries(
  database: AdDatabase,
  wanted: { botId?: string | undefined; state?: DeliveryState | undefined; before?: string | undefined; limit: number },
): Promise<ListedDelivery[]> {
  const { botId, state, before, limit } = wanted;
  let query = database.query
    .selectFrom("deliveries")
    .innerJoin("events", (join) =>
      join.onRef("events.bot_id", "=", "deliveries.bot_id").onRef("events.event_id", "=", "deliveries.event_id"),
    )
    .select(["deliveries.bot_id", "deliveries.event_id", "events.event", "events.user_id", "deliveries.state"])
    .select(["deliveries.attempts", "deliveries.due_at", "deliveries.created_at", "deliveries.finished_at"]);
  if (botId !== undefined) query = query.where("deliveries.bot_id", "=", botId);
  if (state !== undefined) query = query.where("deliveries.state", "=", state);
  if (before !== undefined) query = query.where("deliveries.event_id", "<", before);
  const rows = await query.orderBy("deliveries.event_id", "desc").limit(limit).execute();
  return rows.map((row) => ({
    botId: row.bot_id,
    eventId: row.event_id,
    event: row.event,
    userId: row.user_id,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.state === "waiting" ? row.due_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }));
}
