import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { hasTokens } from "./blocked-reason.ts";
import type { DeliveryLog } from "./deliveries.ts";
import type { EndpointTests } from "./endpoint-tests.ts";

const LOOK_EVERY_MS = 500;
const MOST_AT_ONCE = 16;
/** After this time another node may test: longer than a test can last. */
const CLAIM_SECONDS = 60;

/*
 * A test is due by its backoff, or immediately when the first event since the endpoint became pending arrives. Without a
 * token nothing can be signed, so no test is due.
 */
const claim = statement<{ botId: string; testEventId: string | null; tests: number }>(
  "endpoints.claim-tests",
  `with due as (
    select endpoints.bot_id, has_held
    from endpoints cross join lateral (
      select exists (select from deliveries where deliveries.bot_id = endpoints.bot_id and deliveries.state = 'held') as has_held
    ) as events
    where endpoints.state = 'pending'
      and (test_due_at <= now() or has_held and not is_tested_for_event)
      and ${hasTokens}
    order by test_due_at limit ${MOST_AT_ONCE}
    for update of endpoints skip locked
  )
  update endpoints set test_due_at = now() + interval '${CLAIM_SECONDS} seconds', tests = tests + 1,
    is_tested_for_event = is_tested_for_event or has_held
  from due where endpoints.bot_id = due.bot_id
  returning endpoints.bot_id as "botId", test_event_id as "testEventId", tests - 1 as tests`,
);

/** Tests pending endpoints until they answer 2xx: immediately, with growing delays, and when their first event arrives. */
export function startTestingEndpoints(deps: {
  database: Database;
  endpointTests: EndpointTests;
  log: DeliveryLog;
}): BackgroundLoop {
  const { database, endpointTests, log } = deps;
  const active = new Set<Promise<void>>();

  async function test({ botId, testEventId, tests }: { botId: string; testEventId: string | null; tests: number }) {
    try {
      const tested = await endpointTests.testEndpoint({ botId, activation: { eventId: testEventId, tests } });
      if (tested.outcome !== "tested" || tested.isDelivered) return;
      const { status, errorClass } = tested;
      log.warn(
        { botId, status, errorClass, tests: tests + 1 },
        "an endpoint did not answer its test 2xx; its events are held",
      );
    } catch (error) {
      log.error({ err: error, botId }, "a test of an endpoint failed because of an internal error");
    }
  }

  const loop = startLoop({
    everyMs: LOOK_EVERY_MS,
    async round() {
      for (const due of await database.run(claim, [])) {
        const work = test(due).finally(() => active.delete(work));
        active.add(work);
      }
      return undefined;
    },
    onFault: (error) => log.error({ err: error }, "pending endpoints could not be read; trying again"),
  });
  return {
    async stop() {
      await loop.stop();
      await Promise.all(active);
    },
  };
}
