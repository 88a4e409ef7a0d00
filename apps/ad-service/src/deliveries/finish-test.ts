import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { FinishedAttempt } from "./finish-deliveries.ts";
import type { EndpointState } from "./schema.ts";

/** Released together with the activation; the sweep releases the rest. */
const MOST_RELEASED = 1000;

const finish = statement<{ endpointState: EndpointState | null; isActivated: boolean }>(
  "endpoints.finish-test",
  `with moved as (
    update deliveries set state = case when $4 then 'delivered' else 'failed' end, lease_until = null, finished_at = now(),
      end_reason = case when $4 then null else 'test' end
    where bot_id = $1 and event_id = $2 and fence = $3 and state = 'sending'
    returning bot_id, event_id, attempts
  ),
  logged as (
    insert into delivery_attempts (bot_id, event_id, attempt, started_at, url, address, status, error_class,
      dns_ms, tcp_ms, tls_ms, first_byte_ms, total_ms, response_text)
    select bot_id, event_id, attempts, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 from moved
    on conflict do nothing
  ),
  judged as (
    select endpoints.bot_id, endpoints.state = 'pending' and $4 as activates
    from moved join endpoints on endpoints.bot_id = moved.bot_id and endpoints.url = $7
    for update of endpoints
  ),
  updated as (
    update endpoints set
      state = case when activates then 'active' else state end,
      state_since = case when activates then now() else state_since end,
      last_success_at = case when $4 then now() else last_success_at end,
      last_failure_at = case when $4 then last_failure_at else now() end,
      last_status = case when $4 then last_status else $9 end,
      last_error_class = case when $4 then last_error_class else $10 end,
      last_answer = case when $4 then last_answer else left($16, 200) end,
      test_due_at = now() + make_interval(secs => $5)
    from judged where endpoints.bot_id = judged.bot_id
    returning endpoints.bot_id, endpoints.state, activates
  ),
  released as (
    update deliveries set state = 'waiting', due_at = now()
    from (
      select held.bot_id, held.event_id from updated cross join lateral (
        select deliveries.bot_id, event_id from deliveries
        where deliveries.bot_id = updated.bot_id and deliveries.state = 'held' and activates
        order by event_id limit ${MOST_RELEASED} for update skip locked
      ) as held
    ) as held
    where deliveries.bot_id = held.bot_id and deliveries.event_id = held.event_id
  )
  select updated.state as "endpointState", coalesce(activates, false) as "isActivated" from moved left join updated using (bot_id)`,
);

/**
 * Records a test and, in the same commit, its effect: a pending endpoint that answered 2xx becomes active, and its held
 * events are released. `retrySeconds` is the time until the next test of an endpoint that stays pending.
 */
export async function finishTest(
  database: AdDatabase,
  test: FinishedAttempt & { retrySeconds: number },
): Promise<{ endpointState: EndpointState | null; isActivated: boolean }> {
  const rounded = (milliseconds: number | null) => (milliseconds === null ? null : Math.round(milliseconds));
  const [row] = await database.run(finish, [
    ...[test.botId, test.eventId, test.fence, test.state === "delivered", test.retrySeconds],
    ...[test.startedAt, test.url, test.address, test.status, test.errorClass],
    ...[test.dnsMs, test.tcpMs, test.tlsMs, test.firstByteMs, test.totalMs].map(rounded),
    test.responseText,
  ]);
  return row ?? { endpointState: null, isActivated: false };
}
