import { newEventId } from "@intermission/ad-core/code";
import { resumeState } from "./replay-delivery.ts";

/** `failed`: only deliveries in the state `failed`. `everything`: also delivered ones and those waiting for a later attempt. */
export type ReplayScope = "failed" | "everything";

export interface ReplayRange {
  botId: string;
  scope: ReplayScope;
  /** When the events were earned, both ends included. */
  since: Date;
  until: Date;
}

/**
 * SQL for the rows of a range in id order; `is_wanted` is whether the row is to be sent again. Parameters: $1 bot id, $2 and
 * $3 the ids after which the range begins and with which it ends, $4 the maximum number of rows.
 *
 * Unknown deliveries are sent again only individually: the receiver may have rewarded them, and may not dedupe. Held ones
 * are sent automatically, those in flight are already being sent, and tests are not events.
 */
export const replayableDeliveries = (scope: ReplayScope, locking = "") => `
    select deliveries.bot_id, event_id, deliveries.state, due_at,
      ${wanted[scope]} and not is_test and not is_erased as is_wanted, ${resumeState} as resumes_as
    from deliveries join events using (bot_id, event_id) join bots using (bot_id)
    where deliveries.bot_id = $1 and event_id > $2 and event_id <= $3 ${within[scope]}
    order by event_id limit $4 ${locking}`;

// The literal lets the planner use the partial index.
const within = { failed: "and deliveries.state in ('failed', 'unknown')", everything: "" };
const wanted = {
  failed: "deliveries.state = 'failed'",
  everything: `(deliveries.state in ('failed', 'delivered')
        or deliveries.state = 'waiting' and resume_state is null and due_at > now())`,
};

/** Event ids begin with the millisecond of their event, so a time range is an id range: start excluded, end included. */
export function idsBetween({ since, until }: { since: Date; until: Date }): [after: string, last: string] {
  return [lastIdOf(since.getTime() - 1), lastIdOf(until.getTime())];
}

function lastIdOf(milliseconds: number): string {
  return newEventId(Math.max(0, milliseconds), new Uint8Array(10).fill(255));
}
