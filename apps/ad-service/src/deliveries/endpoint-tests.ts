import { randomBytes } from "node:crypto";
import type { EndpointState, ReceiverWarning } from "@intermission/ad-core/client-words";
import { firstEventIdAt, isCode, newEventId } from "@intermission/ad-core/code";
import { adviseOnWarning } from "@intermission/ad-core/delivery-advice";
import type { EventType } from "@intermission/ad-core/wire-fields";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { SecretBox } from "@intermission/server/secret-box";
import { readBot } from "../bots/bots.ts";
import { type SigningTokens, signingTokens } from "../bots/tokens.ts";
import { revenueFields, storedCurrency } from "../campaigns/event-worth.ts";
import { enqueueNotices } from "../notices/enqueue-notices.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { MIN_KEPT_DAYS } from "../retention/kept-rows.ts";
import { attemptDelivery, type FinishedAttempt } from "./attempt-delivery.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";
import { warningsOf } from "./endpoint-health.ts";
import { type Deliveries, type DeliveryLog, LEASE_SECONDS } from "./enqueue-webhook.ts";
import { moveDeliveries } from "./move-deliveries.ts";
import { acceptsWrongSignature } from "./probe-signature.ts";
import { webhookBody } from "./webhook-body.ts";

export interface EndpointTestRequest {
  botId: string;
  event?: EventType | undefined;
  /** A listed tester of the bot; by default user "0", whom no receiver rewards. */
  userId?: string | undefined;
  /** A code of the tester, which the event then carries. */
  code?: string | undefined;
  /** For the automatic test of a pending endpoint: its event, once it has one, and how many tests were made before. */
  activation?: { eventId: string | null; tests: number } | undefined;
  author?: Author | undefined;
}

export type EndpointTestOutcome =
  | {
      outcome: "tested";
      eventId: string;
      isDelivered: boolean;
      status: number | null;
      errorClass: string | null;
      /** The endpoint's answer, or the error. */
      answer: string | null;
      /** Why its 2xx may not mean that it records events. */
      warnings: ReceiverWarning[];
      phases: Pick<FinishedAttempt, "dnsMs" | "tcpMs" | "tlsMs" | "firstByteMs" | "totalMs">;
      endpointState: EndpointState | null;
    }
  | { outcome: "unknown-bot" | "no-endpoint" | "no-token" | "not-a-tester" | "not-the-testers-code" | "busy" };

export interface EndpointTestDeps {
  database: Database;
  deliveries: Deliveries;
  secretBox: SecretBox;
  requests: Pick<GuardedRequests, "guardedRequest">;
  log: DeliveryLog;
  /** Seconds between the tests of a pending endpoint; by default they grow from 5 s to an hour. */
  retrySeconds?: number | undefined;
  now?: () => Date;
}

/** In demo mode a developer starts and stops the receiver all the time, and waits for each test. */
export const DEMO_RETRY_SECONDS = 2;

/** What tests of endpoints need, and those that are in progress on this node. */
export interface EndpointTests extends EndpointTestDeps {
  readonly now: () => Date;
  /** The bots whose endpoint is being tested. */
  readonly underWay: Set<string>;
  readonly stopping: AbortController;
}

export function openEndpointTests(deps: EndpointTestDeps): EndpointTests {
  return { now: () => new Date(), ...deps, underWay: new Set(), stopping: new AbortController() };
}

/** Aborts the tests in progress. */
export function stopEndpointTests({ stopping }: EndpointTests): void {
  stopping.abort(new Error("stopping"));
}

/** Concurrent tests on this node, over all bots. */
const MAX_AT_ONCE = 32;

/**
 * Sends one test event now, once, in any state of the endpoint; one at a time for each bot. Resolves when the outcome is
 * recorded. A pending endpoint that answers 2xx becomes active.
 */
export async function testEndpoint(tests: EndpointTests, request: EndpointTestRequest): Promise<EndpointTestOutcome> {
  const { underWay } = tests;
  if (underWay.has(request.botId) || underWay.size >= MAX_AT_ONCE) return { outcome: "busy" };
  underWay.add(request.botId);
  try {
    return await makeTest(tests, request);
  } finally {
    underWay.delete(request.botId);
  }
}

type Refusal = Exclude<EndpointTestOutcome, { outcome: "tested" }>;

async function makeTest(tests: EndpointTests, request: EndpointTestRequest): Promise<EndpointTestOutcome> {
  const now = tests.now();
  const prepared = await prepareTest(tests, request, now);
  if (prepared.outcome !== "prepared") return prepared;
  const { test, tokens } = prepared;
  const claim = await beginTest(tests.database, test);
  return claim
    ? attemptTest(tests, claim, { tokens, testsBefore: request.activation?.tests ?? 0 })
    : { outcome: "busy" };
}

interface NewTest {
  botId: string;
  eventId: string;
  event: EventType;
  userId: string;
  body: string;
  isActivation: boolean;
  author: Author | undefined;
}

async function prepareTest(
  tests: EndpointTests,
  { botId, event = "rewarded", userId = "0", code, activation, author }: EndpointTestRequest,
  now: Date,
): Promise<Refusal | { outcome: "prepared"; test: NewTest; tokens: SigningTokens }> {
  const { database } = tests;
  const bot = await readBot(database, botId);
  if (!bot) return { outcome: "unknown-bot" };
  if (bot.webhookUrl === null) return { outcome: "no-endpoint" };
  if (userId !== "0" && !bot.testers.includes(userId)) return { outcome: "not-a-tester" };
  const [found] = code !== undefined && isCode(code) ? await database.run(findTestersCode, [botId, code, userId]) : [];
  if (code !== undefined && !found) return { outcome: "not-the-testers-code" };
  const tokens = (await signingTokens(tests, { botIds: [botId], now })).get(botId);
  if (!tokens) return { outcome: "no-token" };

  const currency = bot.includeRevenue ? await storedCurrency(database) : null;
  const eventId = stillKept(activation?.eventId, now) ?? newEventId(now.getTime(), randomBytes(10));
  const worth = revenueFields(null, { ...bot, currency });
  const body = webhookBody({ event, eventId, botId, userId, ...found, at: now, worth, isTest: true });
  const test = { botId, eventId, event, userId, body, isActivation: activation !== undefined, author };
  return { outcome: "prepared", test, tokens };
}

async function attemptTest(
  tests: EndpointTests,
  claim: ClaimedDelivery,
  { tokens, testsBefore }: { tokens: SigningTokens; testsBefore: number },
): Promise<EndpointTestOutcome> {
  const { database, requests, log, now } = tests;
  const { botId, eventId } = claim;
  const attempted = await attemptDelivery({ requests, log, signal: tests.stopping.signal, now }, claim, tokens);
  if (attempted.outcome === "not-made") throw new Error("a test could not be made");

  const { finished } = attempted;
  const isDelivered = finished.state === "delivered";
  const isForgeable = isDelivered ? await probe(tests, claim) : null;
  const retrySeconds = tests.retrySeconds ?? testDelaySeconds(testsBefore, Math.random());
  const { endpointState, isActivated } = await finishTest(database, {
    ...finished,
    retrySeconds,
    acceptsWrongSignature: isForgeable,
  });
  if (isActivated) {
    log.info({ botId }, "an endpoint answered its test and is active");
    tests.deliveries.wake();
  }
  // Thrown only after recording: an internal error must not leave the delivery in the state `sending`.
  if (finished.totalMs === null) throw new Error("the test could not be made because of an internal error");
  const { status, errorClass, responseText: answer, dnsMs, tcpMs, tlsMs, firstByteMs, totalMs } = finished;
  const phases = { dnsMs, tcpMs, tlsMs, firstByteMs, totalMs };
  const warnings = warningsOf({ ...finished, acceptsWrongSignature: isForgeable === true });
  for (const warning of warnings)
    log.warn({ botId, warning }, `an endpoint answered its test 2xx, but ${adviseOnWarning(warning, "operator")}`);
  return { outcome: "tested", eventId, isDelivered, status, errorClass, answer, warnings, phases, endpointState };
}

/** A fault of this machine, or a stop, must not lose the result of the test itself. */
async function probe(
  { requests, log, now, stopping: { signal } }: EndpointTests,
  { botId, url }: ClaimedDelivery,
): Promise<boolean | null> {
  try {
    return await acceptsWrongSignature(requests, { botId, url }, { now: now(), signal });
  } catch (error) {
    if (!signal.aborted) log.error({ err: error, botId }, "a wrong signature could not be tested");
    return null;
  }
}

/** The event of an earlier test, while its webhook is kept: an endpoint may be pending for months. */
function stillKept(eventId: string | null | undefined, now: Date): string | undefined {
  const oldest = firstEventIdAt(new Date(now.getTime() - MIN_KEPT_DAYS * 86_400_000));
  return eventId !== null && eventId !== undefined && eventId >= oldest ? eventId : undefined;
}

const findTestersCode = statement<{ code: string; reference: string | null }>(
  "endpoints.find-testers-code",
  `select code, nullif(reference, '') as reference from codes where bot_id = $1 and code = $2 and user_id = $3`,
);

const begin = statement<{ attempt: number; fence: number; body: string; url: string }>(
  "endpoints.begin-test",
  `with endpoint as (
    update endpoints set test_event_id = case when $6 then $2 else test_event_id end where bot_id = $1 returning bot_id, url
  ),
  made as (
    insert into events (bot_id, event_id, event, user_id, is_test, occurred_at)
    select bot_id, $2, $3, $4, true, now() from endpoint
    on conflict (bot_id, event_id) do nothing
  ),
  said as (
    insert into event_bodies (bot_id, event_id, body) select bot_id, $2, $5 from endpoint
    on conflict (bot_id, event_id) do nothing
  ),
  leased as (
    insert into deliveries (bot_id, event_id, is_test, state, attempts, fence, lease_until)
    select bot_id, $2, true, 'sending', 1, 1, clock_timestamp() + interval '${LEASE_SECONDS} seconds' from endpoint
    on conflict (bot_id, event_id) do update set state = 'sending', attempts = deliveries.attempts + 1,
      fence = deliveries.fence + 1, lease_until = excluded.lease_until, finished_at = null, end_reason = null
      where deliveries.state <> 'sending'
    returning attempts, fence
  )
  select leased.attempts as attempt, fence, url,
    coalesce((select body from event_bodies where bot_id = $1 and event_id = $2), $5) as body
  from endpoint, leased`,
);

/**
 * Makes a test event and leases its delivery for one attempt. Another test with the same id is one more attempt with the
 * same bytes. Returns undefined if the bot has no endpoint, or if the test is already in progress on another node.
 */
async function beginTest(database: Database, test: NewTest): Promise<ClaimedDelivery | undefined> {
  const { botId, eventId, event, userId, body, isActivation, author } = test;
  const values = [botId, eventId, event, userId, body, isActivation];
  const row = await changeAudited(database, { objectId: botId, author }, { statement: begin, values });
  // One attempt, which neither the schedule nor the connection repeats.
  const once = { scheduleStep: 0, isReplay: false, deliveryMode: "at-most-once", traceparent: null } as const;
  return row && { botId, eventId, ...row, ...once };
}

/** The graver of the two warnings, as `warningsOf` has them; null: none. */
const warningIn = (answerWarning: string, acceptsWrongSignature: string) =>
  `coalesce(${answerWarning}, case when ${acceptsWrongSignature} then 'wrong-signature-accepted' end)`;

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
    select endpoints.bot_id, endpoints.state = 'pending' and $4 as activates,
      endpoints.state <> 'disabled' and $4 as is_accepted, ${warningIn("answer_warning", "accepts_wrong_signature")} as earlier,
      ${warningIn("$17::text", "coalesce($18, accepts_wrong_signature)")} as warning
    from moved join endpoints on endpoints.bot_id = moved.bot_id and endpoints.url = $7
    for update of endpoints
  ),
  updated as (
    update endpoints set version = version + 1,
      state = case when activates then 'active' else state end,
      state_since = case when activates then now() else state_since end,
      last_success_at = case when $4 then now() else last_success_at end,
      last_failure_at = case when $4 then last_failure_at else now() end,
      last_status = case when $4 then last_status else $9 end,
      last_error_class = case when $4 then last_error_class else $10 end,
      last_answer = case when $4 then last_answer else left($16, 200) end,
      answer_warning = case when $4 then $17 else answer_warning end,
      accepts_wrong_signature = coalesce($18, accepts_wrong_signature),
      test_due_at = now() + make_interval(secs => $5)
    from judged where endpoints.bot_id = judged.bot_id
    returning endpoints.bot_id, endpoints.state, activates,
      case when is_accepted and warning is distinct from earlier then case when warning is null then 'recovered' else 'doubtful' end
        when activates then 'recovered' end as health,
      warning as reason, url, last_status as status, last_error_class as error_class
  ),
  ${enqueueNotices("updated")},
  released as (
    ${moveDeliveries({ to: "waiting", bots: "select bot_id from updated where activates" })}
  )
  select updated.state as "endpointState", coalesce(activates, false) as "isActivated" from moved left join updated using (bot_id)`,
);

/**
 * Records a test and, in the same commit, its effect: a pending endpoint that answered 2xx becomes active, and its held
 * events are released. `retrySeconds` is the time until the next test of an endpoint that stays pending.
 */
async function finishTest(
  database: Database,
  test: FinishedAttempt & { retrySeconds: number; acceptsWrongSignature: boolean | null },
): Promise<{ endpointState: EndpointState | null; isActivated: boolean }> {
  const [row] = await database.run(finish, [
    test.botId,
    test.eventId,
    test.fence,
    test.state === "delivered",
    test.retrySeconds,
    test.startedAt,
    test.url,
    test.address,
    test.status,
    test.errorClass,
    test.dnsMs,
    test.tcpMs,
    test.tlsMs,
    test.firstByteMs,
    test.totalMs,
    test.responseText,
    test.answerWarning,
    test.acceptsWrongSignature,
  ]);
  return row ?? { endpointState: null, isActivated: false };
}

const TEST_DELAY_SECONDS = [5, 30, 120, 600, 1800];
const HOURLY_SECONDS = 3600;
const JITTER = 0.2;
/** No test of a pending endpoint is due later. */
export const MAX_TEST_DELAY_SECONDS = HOURLY_SECONDS * (1 + JITTER);

/** Seconds from a pending endpoint's failed test to the next: quick at first, then hourly; `jitter` adds up to 20 %. */
function testDelaySeconds(testsBefore: number, jitter: number): number {
  return (TEST_DELAY_SECONDS[testsBefore] ?? HOURLY_SECONDS) * (1 + JITTER * jitter);
}
