import { type Database, statement } from "@intermission/postgres/open-database";
import { maxRetryDelays } from "./attempt-delivery.ts";
import { MAX_TEST_DELAY_SECONDS } from "./endpoint-tests.ts";
import { LEASE_SECONDS } from "./enqueue-webhook.ts";

const MAX_AT_ONCE = 1000;
/** Added to the longest possible delay, so that no time written by a right clock is changed. */
const MARGIN = "interval '1 minute'";

/**
 * A webhook waits at most as long as its last failure delays it. A later due time was written while the database's clock was
 * ahead: the webhook is due now.
 */
const duePast = statement<never>(
  "deliveries.due-after-clock-jump",
  `update deliveries set due_at = now()
   from (
     select late.bot_id, late.event_id from endpoints
     cross join (values (false), (true)) as kind (is_bulk)
     cross join lateral (
       select deliveries.bot_id, event_id from deliveries
       where deliveries.bot_id = endpoints.bot_id and deliveries.state = 'waiting' and deliveries.is_bulk = kind.is_bulk
         and due_at > now() + ${MARGIN}
         and due_at > now() + ${MARGIN} + make_interval(secs => ($1::float8[])[schedule_step + 1])
       limit ${MAX_AT_ONCE} for update skip locked
     ) as late
     limit ${MAX_AT_ONCE}
   ) as late
   where deliveries.bot_id = late.bot_id and deliveries.event_id = late.event_id
   returning 1`,
);

const endLeases = statement<never>(
  "deliveries.leases-after-clock-jump",
  `update deliveries set lease_until = now() + interval '${LEASE_SECONDS} seconds'
   from (
     select bot_id, event_id from deliveries
     where state = 'sending' and lease_until > now() + interval '${LEASE_SECONDS} seconds' + ${MARGIN}
     limit ${MAX_AT_ONCE} for update skip locked
   ) as late
   where deliveries.bot_id = late.bot_id and deliveries.event_id = late.event_id
   returning 1`,
);

// A backoff of an hour is the longest that an endpoint may request; probes of an open breaker are minutes apart.
const endBackoffs = statement<never>(
  "deliveries.backoffs-after-clock-jump",
  `update endpoints set version = version + 1, backoff_until = least(backoff_until, now()), probe_at = least(probe_at, now())
   where backoff_until > now() + interval '1 hour' + ${MARGIN} or probe_at > now() + interval '10 minutes'
   returning 1`,
);

const dueTests = statement<never>(
  "deliveries.tests-after-clock-jump",
  `update endpoints set version = version + 1, test_due_at = now()
   where state = 'pending' and test_due_at > now() + interval '${MAX_TEST_DELAY_SECONDS} seconds' + ${MARGIN}
   returning 1`,
);

/**
 * Makes due what was postponed while the database's clock was ahead: else webhooks and tests of endpoints would wait until
 * the time that it showed. Changes at most a thousand webhooks and a thousand leases per call; returns how many rows in all.
 */
export async function repairAfterClockJump(
  database: Pick<Database, "run">,
): Promise<{ repaired: number; hasMore: boolean }> {
  const due = await database.run(duePast, [maxRetryDelays()]);
  const leases = await database.run(endLeases, []);
  const backoffs = await database.run(endBackoffs, []);
  const tests = await database.run(dueTests, []);
  return {
    repaired: due.length + leases.length + backoffs.length + tests.length,
    hasMore: Math.max(due.length, leases.length) >= MAX_AT_ONCE,
  };
}
