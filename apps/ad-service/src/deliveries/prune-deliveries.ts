import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

const KEPT_DAYS = 30;
/** Small enough not to delay other statements. */
export const MOST_PRUNED_AT_ONCE = 1000;

const prune = statement<never>(
  "deliveries.prune-log",
  `delete from delivery_attempts where ctid = any (array(
     select ctid from delivery_attempts where started_at < now() - interval '${KEPT_DAYS} days'
     limit ${MOST_PRUNED_AT_ONCE} for update skip locked
   ))
   returning 1`,
);

const giveUp = statement<never>(
  "deliveries.give-up-held",
  `with old as (
    select deliveries.bot_id, event_id from deliveries
    where state = 'held' and created_at < now() - interval '${KEPT_DAYS} days'
    limit ${MOST_PRUNED_AT_ONCE} for update skip locked
  )
  update deliveries set resume_state = null, resume_due_at = null, finished_at = coalesce(finished_at, now()),
    -- A replay that was never sent restores the previous state.
    state = case when resume_state in ('delivered', 'unknown') then resume_state else 'failed' end,
    end_reason = case when resume_state in ('delivered', 'unknown') then end_reason else 'held-too-long' end
  from old where deliveries.bot_id = old.bot_id and deliveries.event_id = old.event_id
  returning 1`,
);

/** One small batch of each: deletes log rows older than 30 days, and gives up held deliveries older than that. */
export async function pruneDeliveries(database: AdDatabase): Promise<{ pruned: number; givenUp: number }> {
  const pruned = await database.run(prune, []);
  const givenUp = await database.run(giveUp, []);
  return { pruned: pruned.length, givenUp: givenUp.length };
}
