import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";

/** Longer than an exchange can last; after it no caller waits for the answer any more. */
const LEASE_SECONDS = 30;

const begin = statement<{ attempt: number; fence: number; body: string; url: string }>(
  "endpoints.begin-test",
  `with endpoint as (
    update endpoints set test_event_id = case when $6 then $2 else test_event_id end where bot_id = $1 returning bot_id, url
  ),
  made as (
    insert into events (bot_id, event_id, event, user_id, is_test, occurred_at, body)
    select bot_id, $2, $3, $4, true, now(), $5 from endpoint
    on conflict (bot_id, event_id) do nothing
  ),
  leased as (
    insert into deliveries (bot_id, event_id, state, attempts, fence, lease_until)
    select bot_id, $2, 'sending', 1, 1, clock_timestamp() + interval '${LEASE_SECONDS} seconds' from endpoint
    on conflict (bot_id, event_id) do update set state = 'sending', attempts = deliveries.attempts + 1,
      fence = deliveries.fence + 1, lease_until = excluded.lease_until, finished_at = null, end_reason = null
      where deliveries.state <> 'sending'
    returning attempts, fence
  )
  select leased.attempts as attempt, fence, url,
    coalesce((select body from events where bot_id = $1 and event_id = $2), $5) as body
  from endpoint, leased`,
);

/**
 * Makes a test event and leases its delivery for one attempt. Another test with the same id is one more attempt with the
 * same bytes. Returns undefined if the bot has no endpoint, or if the test is already in progress on another node.
 */
export async function beginTest(
  database: AdDatabase,
  test: { botId: string; eventId: string; event: string; userId: string; body: string; isActivation: boolean },
): Promise<ClaimedDelivery | undefined> {
  const { botId, eventId, event, userId, body, isActivation } = test;
  const [row] = await database.run(begin, [botId, eventId, event, userId, body, isActivation]);
  // One attempt, which neither the schedule nor the connection repeats.
  const once = { scheduleStep: 0, isReplay: false, deliveryMode: "at-most-once" } as const;
  return row && { botId, eventId, ...row, ...once };
}
