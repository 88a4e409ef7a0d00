import { newEventId } from "@intermission/ad-core/code";
import { requestErrorClass } from "@intermission/ad-core/wire-fields";
import { type Database, statement } from "@intermission/postgres/open-database";
import { rarelyRead, statusClass } from "@intermission/server/metrics";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { FinishedAttempt } from "./attempt-delivery.ts";
import { firstDue } from "./claim-deliveries.ts";
import { disableProgress } from "./endpoint-health.ts";

export interface DeliveryMetrics {
  /** Counts one attempt that was made by this node. */
  attemptFinished(
    attempt: Pick<FinishedAttempt, "isSuccess" | "status" | "errorClass" | "firstByteMs" | "totalMs">,
  ): void;
}

const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Exported as 0 from the start, so that the first failure of a class is an increase. */
const attemptClasses = ["delivered", "4xx", "5xx"].concat(requestErrorClass.options, "unknown");

/**
 * Delivery metrics. Attempts and durations are this node's. The gauges report the state of all nodes from the database:
 * aggregate them over nodes by maximum, not by sum.
 */
export function deliveryMetrics(
  registry: Registry,
  { database, log }: { database: Database; log: { warn(facts: object, message: string): void } },
): DeliveryMetrics {
  const read = rarelyRead(() => readDeliveryFigures(database));
  /** A failed query must not fail the rest of the scrape. Without figures the series is absent rather than wrong. */
  const figures = () =>
    read().catch((error: unknown) => {
      log.warn({ err: error }, "the figures of delivery could not be read");
      return undefined;
    });
  for (const { name, help, label, of } of gauges) {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      async collect() {
        const now = await figures();
        this.reset();
        for (const [value, figure] of now ? of(now) : []) this.set({ [label]: value }, figure);
      },
    });
  }
  const attempts = new Counter({
    name: "intermission_delivery_attempts_total",
    help: "Attempts to deliver a webhook, by outcome.",
    labelNames: ["class"],
    registers: [registry],
  });
  for (const name of attemptClasses) attempts.inc({ class: name }, 0);
  const totalTook = new Histogram({
    name: "intermission_delivery_duration_seconds",
    help: "Attempts to deliver, from their start to the end of the answer or the failure.",
    buckets,
    registers: [registry],
  });
  const firstByteTook = new Histogram({
    name: "intermission_delivery_first_byte_seconds",
    help: "Attempts to deliver, from their start to the headers of the answer, where one came.",
    buckets,
    registers: [registry],
  });
  return {
    attemptFinished(attempt) {
      attempts.inc({ class: classOf(attempt) });
      if (attempt.totalMs !== null) totalTook.observe(attempt.totalMs / 1000);
      if (attempt.firstByteMs !== null) firstByteTook.observe(attempt.firstByteMs / 1000);
    },
  };
}

function classOf({ isSuccess, status, errorClass }: Pick<FinishedAttempt, "isSuccess" | "status" | "errorClass">) {
  if (isSuccess) return "delivered";
  return errorClass ?? (status === null ? "unknown" : statusClass(status));
}

const gauges: readonly {
  name: string;
  help: string;
  label: string;
  of: (figures: DeliveryFigures) => [value: string, figure: number][];
}[] = [
  {
    name: "intermission_deliveries",
    help: "Undelivered deliveries by state; failed and unknown ones of the last 30 days' events.",
    label: "state",
    of: ({ waiting, sending, held, failed, unknown }) => Object.entries({ waiting, sending, held, failed, unknown }),
  },
  {
    name: "intermission_oldest_due_delivery_seconds",
    help: "How long the oldest due delivery has waited: at an endpoint that is ready, and at one in backoff or with an open breaker.",
    label: "endpoint",
    of: (figures) => [
      ["ready", figures.oldestReadySeconds],
      ["backoff", figures.oldestBackoffSeconds],
    ],
  },
  {
    name: "intermission_endpoints",
    help: "Endpoints by state.",
    label: "state",
    of: ({ pending, active, disabled }) => Object.entries({ pending, active, disabled }),
  },
  {
    name: "intermission_endpoints_with_held_events",
    help: "Endpoints whose events wait until they are active, by state.",
    label: "state",
    of: ({ pendingHolding, disabledHolding }) => Object.entries({ pending: pendingHolding, disabled: disabledHolding }),
  },
  {
    name: "intermission_endpoint_breakers",
    help: "Endpoints by the state of their breaker.",
    label: "state",
    of: ({ closed, open, halfOpen }) => Object.entries({ closed, open, "half-open": halfOpen }),
  },
  {
    name: "intermission_endpoint_disable_progress",
    help: "Progress of the worst active endpoint towards being disabled, from 0 to 1.",
    label: "endpoint",
    of: ({ worstProgress }) => [["worst", worstProgress]],
  },
  {
    name: "intermission_endpoints_near_disabling",
    help: "Active endpoints with at least this progress towards being disabled.",
    label: "progress",
    of: (figures) => [
      ["0.5", figures.atHalf],
      ["0.7", figures.atSeventyPercent],
      ["0.9", figures.atNinetyPercent],
    ],
  },
];

/** The current state of delivery over all nodes, from the database. */
interface DeliveryFigures extends ProgressFigures {
  waiting: number;
  sending: number;
  held: number;
  /** `failed` and `unknown`: of events of the last 30 days. */
  failed: number;
  unknown: number;
  /** Of deliveries that can be sent now: endpoint active, no backoff, breaker closed. Zero when none is due. */
  oldestReadySeconds: number;
  /** Of due deliveries that wait for their endpoint to recover. */
  oldestBackoffSeconds: number;
  pending: number;
  active: number;
  disabled: number;
  /** Of these, with held deliveries. */
  pendingHolding: number;
  disabledHolding: number;
  closed: number;
  open: number;
  halfOpen: number;
}

/** Of active endpoints: the worst progress towards being disabled, from 0 to 1, and how many have at least this progress. */
interface ProgressFigures {
  worstProgress: number;
  atHalf: number;
  atSeventyPercent: number;
  atNinetyPercent: number;
}

/*
 * Each count reads one partial index. None of these contains delivered rows, so a table of millions costs nothing. The
 * oldest delivery of a bot is the first entry of its part of the index.
 */
const figuresOfAllNodes = statement<Omit<DeliveryFigures, keyof ProgressFigures>>(
  "deliveries.figures",
  `with undelivered as (
    select coalesce(sum(failed), 0)::int8 as failed, coalesce(sum(unknown), 0)::int8 as unknown
    from bots cross join lateral (
      select count(*) filter (where state = 'failed') as failed, count(*) filter (where state = 'unknown') as unknown
      from deliveries where deliveries.bot_id = bots.bot_id and state in ('failed', 'unknown') and event_id >= $1
    ) as ended
  ),
  standing as (
    select endpoints.state, breaker, extract(epoch from now() - first.due_at) as age,
      backoff_until <= now() and breaker = 'closed' as is_ready,
      exists (select from deliveries where deliveries.bot_id = endpoints.bot_id and deliveries.state = 'held') as is_holding
    from endpoints cross join lateral (select ${firstDue("endpoints.bot_id")} as due_at) as first
  ),
  endpoint_figures as (
    select greatest(0, coalesce(max(age) filter (where state = 'active' and is_ready), 0))::float8 as "oldestReadySeconds",
      greatest(0, coalesce(max(age) filter (where state = 'active' and not is_ready), 0))::float8 as "oldestBackoffSeconds",
      count(*) filter (where state = 'pending') as pending,
      count(*) filter (where state = 'active') as active,
      count(*) filter (where state = 'disabled') as disabled,
      count(*) filter (where state = 'pending' and is_holding) as "pendingHolding",
      count(*) filter (where state = 'disabled' and is_holding) as "disabledHolding",
      count(*) filter (where breaker = 'closed') as closed,
      count(*) filter (where breaker = 'open') as open,
      count(*) filter (where breaker = 'half-open') as "halfOpen"
    from standing
  )
  select *,
    (select count(*) from deliveries where state = 'waiting') as waiting,
    (select count(*) from deliveries where state = 'sending') as sending,
    (select count(*) from deliveries where state = 'held') as held
  from undelivered cross join endpoint_figures`,
);

const failingEndpoints = statement<Parameters<typeof disableProgress>[0] & { now: number }>(
  "endpoints.failing",
  `select extract(epoch from last_success_at)::float8 * 1000 as "lastSuccessAt",
    extract(epoch from state_since)::float8 * 1000 as "stateSince", failures_since_success as "failuresSinceSuccess",
    extract(epoch from failing_since)::float8 * 1000 as "failingSince", extract(epoch from now())::float8 * 1000 as now
  from endpoints where state = 'active' and failures_since_success > 0`,
);

async function readProgress(database: Database): Promise<ProgressFigures> {
  const failing = await database.run(failingEndpoints, []);
  const progress = failing.map(({ now, ...health }) => disableProgress(health, now));
  const atLeast = (share: number) => progress.filter((each) => each >= share).length;
  return {
    worstProgress: Math.max(0, ...progress),
    atHalf: atLeast(0.5),
    atSeventyPercent: atLeast(0.7),
    atNinetyPercent: atLeast(0.9),
  };
}

const KEPT_DAYS = 30;

async function readDeliveryFigures(database: Database): Promise<DeliveryFigures> {
  // Event ids begin with the millisecond of their event.
  const since = newEventId(Date.now() - KEPT_DAYS * 86_400_000, new Uint8Array(10));
  const [figures] = await database.run(figuresOfAllNodes, [since]);
  if (!figures) throw new Error("the query of the delivery figures returned no row");
  return { ...figures, ...(await readProgress(database)) };
}
