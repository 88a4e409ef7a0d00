import type { EndpointState } from "@intermission/ad-core/client-words";
import type { AnswerWarning } from "@intermission/ad-core/receiver-warning";
import type { DisabledReason, EndpointSort, ListedEndpoint } from "@intermission/operator-api/endpoints";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type ListPage, listPage, sortedPage, sortOf } from "@intermission/postgres/keyset";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { pendingEndpoint } from "../bots/change-bot.ts";
import { isInTrouble, sortsOfEndpoints } from "../bots/list-bots.ts";
import { enqueueNotices } from "../notices/enqueue-notices.ts";
import { hasTokens } from "./blocked-reason.ts";
import { firstDue } from "./claim-deliveries.ts";
import type { HealthColumn } from "./endpoint-facts.ts";
import { disableProgress, warningsOf } from "./endpoint-health.ts";
import { type EndpointTests, testEndpoint } from "./endpoint-tests.ts";
import type { Deliveries, DeliveryLog } from "./enqueue-webhook.ts";
import { moveDeliveries } from "./move-deliveries.ts";

/** The count of a longer queue stops here. */
const MAX_COUNTED = 10_000;

const counted = (state: "waiting" | "held") => `(select count(*) from (
      select from deliveries where deliveries.bot_id = bots.bot_id and deliveries.state = '${state}' limit ${MAX_COUNTED + 1}
    ) as counted)`;

type ListedRow = Omit<ListedEndpoint, "disablePercent" | "warnings"> & {
  answerWarning: AnswerWarning | null;
  acceptsWrongSignature: boolean;
  failingSince: Date | null;
  failuresSinceSuccess: number;
  now: Date;
};

const listed = `select bots.bot_id as "botId", bots.name, url, endpoints.state, state_since as "stateSince",
    disabled_reason as "disabledReason", breaker,
    case when breaker <> 'closed' then nullif(probe_at, '-infinity') end as "probeAt",
    case when backoff_until > now() then backoff_until end as "backoffUntil",
    greatest(0, claimed - ended)::integer as "inFlight", max_in_flight as "maxInFlight",
    ${counted("waiting")} as waiting, ${counted("held")} as held,
    ${firstDue("bots.bot_id")} as "oldestDueAt",
    last_success_at as "lastSuccessAt", last_failure_at as "lastFailureAt", last_status as "lastStatus",
    last_error_class as "lastErrorClass", last_answer as "lastAnswer",
    answer_warning as "answerWarning", coalesce(accepts_wrong_signature, false) as "acceptsWrongSignature",
    failing_since as "failingSince", coalesce(failures_since_success, 0) as "failuresSinceSuccess", now() as now,
    coalesce(warned_percent, 0) as "warnedPercent",
    coalesce(tests, 0) as tests, case endpoints.state when 'pending' then test_due_at end as "testDueAt"
  from bots left join endpoints using (bot_id) left join endpoint_claims using (bot_id)
  where ($1::text[] is null or bots.bot_id = any ($1)) and ($3::text is null or endpoints.state = $3) and (not $5::boolean or ${isInTrouble})
    and (not $6::boolean or exists (select from deliveries where deliveries.bot_id = bots.bot_id and deliveries.state = 'waiting'))`;

const list = statement<ListedRow>(
  "endpoints.list",
  `${listed} and ($2::text is null or bots.bot_id > $2) order by bots.bot_id limit $4`,
);

/** Unnamed: the plan depends on the order, and people run it rarely. */
function sortedList(sort: NonNullable<EndpointList["sort"]>): Statement<ListedRow> {
  const { value, isDescending } = sortOf<EndpointSort>(sort);
  const keys = { table: "bots", id: "bot_id", after: "$2", limit: "$4" };
  const { where, end } = sortedPage({ value: sortsOfEndpoints[value], isDescending }, keys);
  return { name: "", text: `${listed} and ${where} ${end}` };
}

interface EndpointList {
  sort?: EndpointSort | `-${EndpointSort}` | undefined;
  bots?: readonly string[] | undefined;
  after?: string | undefined;
  state?: EndpointState | undefined;
  trouble?: boolean;
  waiting?: boolean;
  limit: number;
}

/** Bots with their endpoints' health and queues, by their ids or as they are sorted, or some of them. */
export async function listEndpoints(database: Database, of: EndpointList): Promise<ListPage<ListedEndpoint>> {
  const { bots, after, state, limit, sort, trouble = false, waiting = false } = of;
  const statement = sort === undefined ? list : sortedList(sort);
  const rows = await database.run(statement, [bots, after, state, limit + 1, trouble, waiting]);
  const read = rows.map(({ failingSince, failuresSinceSuccess, now, answerWarning, acceptsWrongSignature, ...row }) => {
    const warnings = warningsOf({ answerWarning, acceptsWrongSignature });
    const since = { stateSince: row.stateSince?.getTime() ?? now.getTime(), failuresSinceSuccess };
    const times = {
      lastSuccessAt: row.lastSuccessAt?.getTime() ?? null,
      failingSince: failingSince?.getTime() ?? null,
    };
    return {
      ...row,
      warnings,
      disablePercent: Math.floor(100 * disableProgress({ ...since, ...times }, now.getTime())),
    };
  });
  return listPage(read, limit, ({ botId }) => botId);
}

export type EnableEndpointOutcome =
  /** `pending`: a test is due now, and held events are sent once it is answered 2xx. */
  { outcome: "enabled"; state: "pending" | "active" } | { outcome: "already-active" } | MissingEndpoint;

/** All of the health but the time of its state, which each statement sets itself. */
const resetHealth: Readonly<Record<Exclude<HealthColumn, "state_since">, unknown>> = pendingEndpoint;
const enable = statement<never>(
  "endpoints.enable",
  `with enabled as (
    update endpoints set version = version + 1, state_since = now(), test_due_at = now(),
      ${Object.keys(resetHealth)
        .map((column, index) => `${column} = $${index + 2}`)
        .join(", ")}
    where bot_id = $1
    returning bot_id, case state when 'active' then 'recovered' end as health, null as reason, url,
      last_status as status, last_error_class as error_class
  ),
  ${enqueueNotices("enabled")}
  select bot_id from enabled`,
);

const release = statement<never>(
  "endpoints.release-held",
  moveDeliveries({ to: "waiting", bots: "select $1::text as bot_id" }),
);

/** Enables an endpoint and resets its health. `skipTest` makes it active without a test. */
export async function enableEndpoint(
  { database, deliveries }: { database: Database; deliveries: Deliveries },
  { botId, skipTest = false, author }: { botId: string; skipTest?: boolean; author?: Author | undefined },
): Promise<EnableEndpointOutcome> {
  const outcome = await database.transaction<EnableEndpointOutcome>(async (tx) => {
    const change = await openChange(tx, author, botId);
    const found = await lockEndpoint(tx, botId);
    if (found.outcome !== "locked") return found;
    if (found.state === "active") return { outcome: "already-active" };
    const state = skipTest ? "active" : "pending";
    await tx.run(enable, [botId, ...Object.values({ ...resetHealth, state })]);
    if (skipTest) await tx.run(release, [botId]);
    await audit(tx, change);
    return { outcome: "enabled", state };
  });
  if (outcome.outcome === "enabled") deliveries.wake();
  return outcome;
}

export type DisableEndpointOutcome =
  | { outcome: "disabled" }
  | { outcome: "already-disabled"; reason: DisabledReason | null }
  | MissingEndpoint;

const disable = statement<never>(
  "endpoints.disable",
  `with disabled as (
    update endpoints set version = version + 1, state = 'disabled', state_since = now(), disabled_reason = 'operator'
    where bot_id = $1
    returning bot_id, 'disabled' as health, 'operator' as reason, url, last_status as status, last_error_class as error_class
  ),
  ${enqueueNotices("disabled")}
  select bot_id from disabled`,
);

const hold = statement<never>(
  "endpoints.hold-waiting",
  moveDeliveries({ to: "held", bots: "select $1::text as bot_id" }),
);

/** Stops sending to an endpoint until it is enabled again. Attempts in flight end normally. */
export async function disableEndpoint(
  database: Database,
  { botId, author }: { botId: string; author?: Author | undefined },
): Promise<DisableEndpointOutcome> {
  return database.transaction<DisableEndpointOutcome>(async (tx) => {
    const change = await openChange(tx, author, botId);
    const found = await lockEndpoint(tx, botId);
    if (found.outcome !== "locked") return found;
    if (found.state === "disabled") return { outcome: "already-disabled", reason: found.disabledReason };
    await tx.run(disable, [botId]);
    await tx.run(hold, [botId]);
    await audit(tx, change);
    return { outcome: "disabled" };
  });
}

export type LimitEndpointOutcome = { outcome: "limited" } | MissingEndpoint;

const limit = statement<never>("endpoints.limit", "update endpoints set max_in_flight = $2 where bot_id = $1");

/** Sets how many deliveries to an endpoint may be in flight at the same time, over all nodes; 1 to 40. */
export async function limitEndpoint(
  { database, deliveries }: { database: Database; deliveries: Deliveries },
  { botId, maxInFlight, author }: { botId: string; maxInFlight: number; author?: Author | undefined },
): Promise<LimitEndpointOutcome> {
  const outcome = await database.transaction<LimitEndpointOutcome>(async (tx) => {
    const change = await openChange(tx, author, botId);
    const found = await lockEndpoint(tx, botId);
    if (found.outcome !== "locked") return found;
    await tx.run(limit, [botId, maxInFlight]);
    await audit(tx, change);
    return { outcome: "limited" };
  });
  deliveries.wake();
  return outcome;
}

type MissingEndpoint = { outcome: "unknown-bot" | "no-endpoint" };

const lock = statement<{ state: EndpointState | null; disabledReason: DisabledReason | null }>(
  "endpoints.lock",
  `select endpoint.state, endpoint.disabled_reason as "disabledReason"
  from bots left join lateral (
    select state, disabled_reason from endpoints where endpoints.bot_id = bots.bot_id for update
  ) as endpoint on true
  where bots.bot_id = $1`,
);

/** Reads an endpoint and locks its row until the transaction ends. */
async function lockEndpoint(
  tx: Transaction,
  botId: string,
): Promise<{ outcome: "locked"; state: EndpointState; disabledReason: DisabledReason | null } | MissingEndpoint> {
  const [row] = await tx.run(lock, [botId]);
  if (!row) return { outcome: "unknown-bot" };
  const { state, disabledReason } = row;
  return state === null ? { outcome: "no-endpoint" } : { outcome: "locked", state, disabledReason };
}

const LOOK_EVERY_MS = 500;
const MAX_AT_ONCE = 16;
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
    order by test_due_at limit ${MAX_AT_ONCE}
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
      const tested = await testEndpoint(endpointTests, { botId, activation: { eventId: testEventId, tests } });
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
    health: loop.health,
    async stop() {
      await loop.stop();
      await Promise.all(active);
    },
  };
}
