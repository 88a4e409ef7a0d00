import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { type BlockedReason, endpointBlockedReason, endpointNotBefore } from "./blocked-reason.ts";
import type { Deliveries } from "./deliveries.ts";

export type ReplayDeliveryOutcome =
  /** Due now; sent immediately, or after `notBefore` if its endpoint rests until then. */
  | { outcome: "replayed"; notBefore: Date | null }
  | { outcome: "under-way" }
  /** Nothing is sent to its endpoint now. */
  | { outcome: "held"; blockedReason: BlockedReason }
  /** Test events are not replayed; make a new test instead. */
  | { outcome: "test" }
  | { outcome: "unknown-event" };

/**
 * SQL for the state that a delivery returns to if its replay fails; needs `deliveries` and `bots`. A waiting delivery of an
 * at-most-once bot must not return to waiting, where it is sent automatically: the replay is its one attempt, made early.
 */
export const resumeState = `case
    when deliveries.state in ('delivered', 'unknown') then deliveries.state
    when deliveries.state = 'waiting' and delivery_mode = 'at-least-once' then 'waiting'
    when deliveries.state = 'held' then resume_state
  end`;

/**
 * The changes that a replay makes to a delivery; `before` names its previous row. A waiting, delivered or unknown delivery
 * keeps its schedule: it gets one more attempt, and returns to its previous state if that fails. A failed one starts a new
 * schedule. A bulk replay is sent after new events, unless it waited for its next attempt: then it is sent with them.
 */
export const replayChanges = (before: string, { isBulk }: { isBulk: boolean }) => `
      state = 'waiting', due_at = now(), is_bulk = ${isBulk} and ${before}.state <> 'waiting', finished_at = null,
      schedule_step = case ${before}.state when 'failed' then 0 else schedule_step end,
      end_reason = case ${before}.state when 'failed' then null else end_reason end,
      resume_state = ${before}.resumes_as,
      resume_due_at = case when ${before}.state = 'held' then deliveries.resume_due_at
        when ${before}.resumes_as = 'waiting' then ${before}.due_at end`;

// `judged` uses the locked row. Reading the state again would read this statement's older snapshot.
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
      -- A delivery that is already due is sent anyway, and no longer behind new events; a replay would send it twice.
      and not (judged.state = 'waiting' and judged.due_at <= now())
  )
  select outcome, blocked_reason as "blockedReason", not_before as "notBefore" from judged`,
);

/** Sends one event again, with the same id and the same bytes. */
export async function replayDelivery(
  { database, deliveries }: { database: AdDatabase; deliveries: Deliveries },
  { botId, eventId }: { botId: string; eventId: string },
): Promise<ReplayDeliveryOutcome> {
  const [row] = await database.run(replay, [botId, eventId]);
  if (!row) return { outcome: "unknown-event" };
  if (row.outcome === "held") {
    if (row.blockedReason === null) throw new Error(`${eventId} is held without a blocked reason`);
    return { outcome: "held", blockedReason: row.blockedReason };
  }
  if (row.outcome !== "replayed") return { outcome: row.outcome };
  deliveries.wake();
  return { outcome: "replayed", notBefore: row.notBefore };
}
