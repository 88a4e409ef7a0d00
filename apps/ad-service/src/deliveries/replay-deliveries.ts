import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { DeliveryMode } from "../bots/schema.ts";
import { type BlockedReason, endpointBlockedReason } from "./blocked-reason.ts";
import type { Deliveries } from "./deliveries.ts";
import { replayChanges } from "./replay-delivery.ts";
import { idsBetween, type ReplayRange, type ReplayScope, replayableDeliveries } from "./replayable-deliveries.ts";

/** Rows read by one call: few enough not to delay other work. */
export const REPLAY_BATCH = 1000;

export type ReplayRefusal =
  | { outcome: "unknown-bot" }
  /** Nothing is sent to its endpoint now. */
  | { outcome: "held"; blockedReason: BlockedReason }
  /** Its receiver may not dedupe: delivered events are sent again only individually. */
  | { outcome: "at-most-once" };

export type ReplayDeliveriesOutcome =
  /** `next` continues after this batch; null: the range is done. */
  { outcome: "replayed"; replayed: number; next: string | null } | ReplayRefusal;

const readBot = statement<{ deliveryMode: DeliveryMode; blockedReason: BlockedReason | null }>(
  "deliveries.may-replay",
  `select delivery_mode as "deliveryMode", ${endpointBlockedReason} as "blockedReason"
   from bots left join endpoints using (bot_id) where bots.bot_id = $1`,
);

// Locked rows are skipped: two batches that wait for each other's rows would deadlock.
const replayOf = (scope: ReplayScope) =>
  statement<{ replayed: number; lookedAt: number; last: string | null }>(
    `deliveries.replay-${scope}`,
    `with looked_at as (${replayableDeliveries(scope, "for update of deliveries skip locked")}),
    replayed as (
      update deliveries set ${replayChanges("looked_at", { isBulk: true })}
      from looked_at
      where is_wanted and deliveries.bot_id = looked_at.bot_id and deliveries.event_id = looked_at.event_id
      returning 1
    )
    select (select count(*) from replayed) as replayed, count(*) as "lookedAt", max(event_id) as last from looked_at`,
  );
const replays = { failed: replayOf("failed"), everything: replayOf("everything") };

/** Why events of this bot cannot be sent again in bulk; undefined: they can. */
export async function replayRefusal(
  database: AdDatabase,
  { botId, scope }: Pick<ReplayRange, "botId" | "scope">,
): Promise<ReplayRefusal | undefined> {
  const [bot] = await database.run(readBot, [botId]);
  if (!bot) return { outcome: "unknown-bot" };
  if (scope === "everything" && bot.deliveryMode === "at-most-once") return { outcome: "at-most-once" };
  return bot.blockedReason === null ? undefined : { outcome: "held", blockedReason: bot.blockedReason };
}

/** Sends the first 1000 events of a range after `after` again, each as `replayDelivery` does, but behind new events. */
export async function replayDeliveries(
  { database, deliveries }: { database: AdDatabase; deliveries: Deliveries },
  { after, ...range }: ReplayRange & { after?: string | undefined },
): Promise<ReplayDeliveriesOutcome> {
  const refusal = await replayRefusal(database, range);
  if (refusal) return refusal;
  const [first, last] = idsBetween(range);
  const [row] = await database.run(replays[range.scope], [range.botId, after ?? first, last, REPLAY_BATCH]);
  if (!row) throw new Error("the replay query returned no row");
  if (row.replayed > 0) deliveries.wake();
  return { outcome: "replayed", replayed: row.replayed, next: row.lookedAt < REPLAY_BATCH ? null : row.last };
}
