import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { disableProgress } from "./endpoint-health.ts";
import { firstDue } from "./first-due.ts";
import type { BreakerState, DisabledReason, EndpointState } from "./schema.ts";

/** The count of a longer queue stops here. */
export const MOST_COUNTED = 10_000;

/** A bot and the endpoint that its webhooks go to. */
export interface ListedEndpoint {
  botId: string;
  name: string;
  /** Null, like the other fields of the endpoint, if the bot has none. */
  url: string | null;
  state: EndpointState | null;
  stateSince: Date | null;
  disabledReason: DisabledReason | null;
  breaker: BreakerState | null;
  /** When a breaker that is not closed lets the next delivery through. */
  probeAt: Date | null;
  /** Until when it rests, because an answer or a timeout showed that it is overloaded. */
  restUntil: Date | null;
  inFlight: number;
  maxInFlight: number | null;
  /** One more than `MOST_COUNTED` where the queue is longer. */
  waiting: number;
  held: number;
  oldestDueAt: Date | null;
  lastSuccessAt: Date | null;
  lastFailureAt: Date | null;
  /** Of the last failure. */
  lastStatus: number | null;
  lastErrorClass: string | null;
  lastAnswer: string | null;
  /** Progress towards being disabled, and the last of the marks 50, 70, 90 and 100 that was warned of. */
  disablePercent: number;
  warnedPercent: number;
  /** While pending: tests that were made so far, and when the next one is due. */
  tests: number;
  testDueAt: Date | null;
}

const counted = (state: "waiting" | "held") => `(select count(*) from (
      select from deliveries where deliveries.bot_id = bots.bot_id and deliveries.state = '${state}' limit ${MOST_COUNTED + 1}
    ) as counted)`;

const list = statement<ListedEndpoint>(
  "endpoints.list",
  `select bots.bot_id as "botId", bots.name, url, endpoints.state, state_since as "stateSince",
    disabled_reason as "disabledReason", breaker,
    case when breaker <> 'closed' then nullif(probe_at, '-infinity') end as "probeAt",
    case when rest_until > now() then rest_until end as "restUntil",
    greatest(0, claimed - ended)::integer as "inFlight", max_in_flight as "maxInFlight",
    ${counted("waiting")} as waiting, ${counted("held")} as held,
    ${firstDue("bots.bot_id")} as "oldestDueAt",
    last_success_at as "lastSuccessAt", last_failure_at as "lastFailureAt", last_status as "lastStatus",
    last_error_class as "lastErrorClass", last_answer as "lastAnswer",
    case when endpoints.bot_id is null then 0 else floor(100 * ${disableProgress})::integer end as "disablePercent",
    coalesce(warned_percent, 0) as "warnedPercent",
    coalesce(tests, 0) as tests, case endpoints.state when 'pending' then test_due_at end as "testDueAt"
  from bots left join endpoints using (bot_id) left join endpoint_claims using (bot_id)
  where $1::text is null or bots.bot_id = $1
  order by bots.bot_id`,
);

/** All bots with their endpoints' health and queues, or one of them. */
export async function listEndpoints(
  database: AdDatabase,
  { botId = null }: { botId?: string | null } = {},
): Promise<ListedEndpoint[]> {
  return database.run(list, [botId]);
}
