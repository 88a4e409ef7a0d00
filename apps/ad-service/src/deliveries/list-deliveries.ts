import { statement } from "@intermission/postgres/open-database";
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
  /** Why it is not sent again automatically, when `failed` or `unknown`. */
  endReason: EndReason | null;
}

interface DeliveryRow {
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
}

/*
 * Reads one page of each bot by its index, then the newest of these: the cost does not depend on the number of events.
 * The state is a literal, so that the planner can use a partial index. "f" sorts after every event id.
 */
const listOf = (state: DeliveryState | "any") =>
  statement<DeliveryRow>(
    `deliveries.list-${state}`,
    `select newest.*, events.event, events.user_id, events.is_test
    from (
      select of_bot.* from bots cross join lateral (
        select * from deliveries
        where deliveries.bot_id = bots.bot_id and event_id < coalesce($2, 'f')
          ${state === "any" ? "" : `and state = '${state}'`}
        order by event_id desc limit $3
      ) as of_bot
      where $1::text is null or bots.bot_id = $1
      order by of_bot.event_id desc limit $3
    ) as newest join events using (bot_id, event_id)
    order by newest.event_id desc`,
  );

const lists = {
  any: listOf("any"),
  waiting: listOf("waiting"),
  sending: listOf("sending"),
  delivered: listOf("delivered"),
  failed: listOf("failed"),
  held: listOf("held"),
  unknown: listOf("unknown"),
};

/** Newest first: event ids begin with their time. `before` is the last event id of the previous page. */
export async function listDeliveries(
  database: Pick<AdDatabase, "run">,
  wanted: { botId?: string | undefined; state?: DeliveryState | undefined; before?: string | undefined; limit: number },
): Promise<ListedDelivery[]> {
  const { botId = null, state = "any", before = null, limit } = wanted;
  const rows = await database.run(lists[state], [botId, before, limit]);
  return rows.map(listedDelivery);
}

/** A delivery with the fields of its event, as an operator sees it. */
export function listedDelivery(row: DeliveryRow): ListedDelivery {
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
