import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { type BlockedReason, endpointBlockedReason, endpointNotBefore } from "./blocked-reason.ts";
import type { Deliveries } from "./deliveries.ts";

export type ReplayDeliveryOutcome =
  /** Due now; sent at once, or after `notBefore`, until when its endpoint rests. */
  | { outcome: "replayed"; notBefore: Date | null }
  | { outcome: "under-way" }
  /** Nothing is sent to its endpoint now. */
  | { outcome: "held"; blockedReason: BlockedReason }
  /** A test is made anew, never repeated. */
  | { outcome: "test" }
  | { outcome: "unknown-event" };

/**
 * SQL for what a delivery returns to if its replay fails; wants `deliveries` and `bots`. An at-most-once bot's must never
 * go back to waiting, from where it is sent by itself: its one attempt is made now instead of later.
 */
export const resumeState = `case
    when deliveries.state in ('delivered', 'unknown') then deliveries.state
    when deliveries.state = 'waiting' and delivery_mode = 'at-least-once' then 'waiting'
    when deliveries.state = 'held' then resume_state
  end`;

/**
 * What a replay makes of a delivery; `before` names its row as it was. The schedule stays as it is: what was waiting, was
 * delivered or is unknown gets one attempt more, and returns to what it was if that fails. One that failed has no schedule
 * any more: it begins a new one. In bulk it goes after what is new, unless it waited for its next attempt: then it is new.
 */
export const replayChanges = (before: string, { isBulk }: { isBulk: boolean }) => `
      state = 'waiting', due_at = now(), is_bulk = ${isBulk} and ${before}.state <> 'waiting', finished_at = null,
      schedule_step = case ${before}.state when 'failed' then 0 else schedule_step end,
      end_reason = case ${before}.state when 'failed' then null else end_reason end,
      resume_state = ${before}.resumes_as,
      resume_due_at = case when ${before}.state = 'held' then deliveries.resume_due_at
        when ${before}.resumes_as = 'waiting' then ${before}.due_at end`;

// The row is locked as it was judged. To ask for its state once more would ask this statement's older snapshot.
const replay = statement<{
  outcome: Exclude<ReplayDeliveryOutcome["outcome"], "unknown-event">;
  blockedReason: BlockedReason | null;
  notBefore: Date | null;
}>(
  "deliveries.replay-one",
  `with found as (
    select deliveries.bot_id, event_id, deliveries.state, due_at, resume_state, is_test, ${resumeState} as resumes_as,
      ${endpointBlockedReason} as blocked_reason, ${endpointNotBefore} as not_before
    from deliveries join events using (bot_id, event_id) join bots using (bot_id) left join endpoints using (bot_id)
    where deliveries.bot_id = $1 and event_id = $2 and not is_erased
    for update of deliveries
  ),
  judged as (
    select found.*, case
      when is_test then 'test'
      when state = 'sending' or state = 'waiting' and resume_state is not null then 'under-way'
      when blocked_reason is not null then 'held'
      else 'replayed'
    end as outcome
    from found
  ),
  hurried as (
    update deliveries set is_bulk = false from judged
    where deliveries.bot_id = judged.bot_id and deliveries.event_id = judged.event_id and is_bulk and judged.state = 'waiting'
      and (outcome = 'under-way' or outcome = 'replayed' and judged.due_at <= now())
  ),
  replayed as (
    update deliveries set ${replayChanges("judged", { isBulk: false })}
    from judged
    where outcome = 'replayed' and deliveries.bot_id = judged.bot_id and deliveries.event_id = judged.event_id
      -- What is due already is sent without our help, and no more behind what is new; as a replay it would be sent twice.
      and not (judged.state = 'waiting' and judged.due_at <= now())
  )
  select outcome, blocked_reason as "blockedReason", not_before as "notBefore" from judged`,
);

/** Sends one event again: the same id, the same bytes. */
export async function replayDelivery(
  { database, deliveries }: { database: AdDatabase; deliveries: Deliveries },
  { botId, eventId }: { botId: string; eventId: string },
): Promise<ReplayDeliveryOutcome> {
  const [row] = await database.run(replay, [botId, eventId]);
  if (!row) return { outcome: "unknown-event" };
  if (row.outcome === "held") {
    if (row.blockedReason === null) throw new Error(`${eventId} is held by nothing`);
    return { outcome: "held", blockedReason: row.blockedReason };
  }
  if (row.outcome !== "replayed") return { outcome: row.outcome };
  deliveries.wake();
  return { outcome: "replayed", notBefore: row.notBefore };
}
