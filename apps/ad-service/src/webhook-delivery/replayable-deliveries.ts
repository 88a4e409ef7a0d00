import { newEventId } from "@intermission/ad-core/code";
import { resumeState } from "./replay-delivery.ts";

/** `failed`: what will not be sent again by itself, but what is unknown. `everything`: what was delivered or waits, too. */
export type ReplayScope = "failed" | "everything";

export interface ReplayRange {
  botId: string;
  scope: ReplayScope;
  /** When the events were earned, both ends included. */
  since: Date;
  until: Date;
}

/**
 * SQL for the rows of a range that are looked at, in the order of their ids, and whether each is to be sent again. Bound:
 * $1 bot id, $2 and $3 the ids that the range lies behind and ends with, $4 how many rows are looked at.
 *
 * What is unknown is sent again by its own name only: its receiver may have rewarded it, and may not dedupe. What is held
 * goes out by itself, what is under way is on its way, and tests are no events.
 */
export const replayableDeliveries = (scope: ReplayScope, locking = "") => `
    select deliveries.bot_id, event_id, deliveries.state, due_at,
      ${wanted[scope]} and not is_test and not is_erased as is_wanted, ${resumeState} as resumes_as
    from deliveries join events using (bot_id, event_id) join bots using (bot_id)
    where deliveries.bot_id = $1 and event_id > $2 and event_id <= $3 ${within[scope]}
    order by event_id limit $4 ${locking}`;

// The literal lets the planner take the partial index.
const within = { failed: "and deliveries.state in ('failed', 'unknown')", everything: "" };
const wanted = {
  failed: "deliveries.state = 'failed'",
  everything: `(deliveries.state in ('failed', 'delivered')
        or deliveries.state = 'waiting' and resume_state is null and due_at > now())`,
};

/** Event ids begin with the millisecond of their event: a range of time is a range of ids, open below and closed above. */
export function idsBetween({ since, until }: { since: Date; until: Date }): [after: string, last: string] {
  return [lastIdOf(since.getTime() - 1), lastIdOf(until.getTime())];
}

function lastIdOf(milliseconds: number): string {
  return newEventId(Math.max(0, milliseconds), new Uint8Array(10).fill(255));
}
