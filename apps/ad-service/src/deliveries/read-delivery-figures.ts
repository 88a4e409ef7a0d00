import { newEventId } from "@intermission/ad-core/code";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { disableProgress } from "./endpoint-health.ts";
import { firstDue } from "./first-due.ts";

/** The current state of delivery over all nodes, from the database. */
export interface DeliveryFigures {
  waiting: number;
  sending: number;
  held: number;
  /** `failed` and `unknown`: of events of the last 30 days. */
  failed: number;
  unknown: number;
  /** Of deliveries that can be sent now: endpoint active, not resting, breaker closed. Zero when none is due. */
  oldestReadySeconds: number;
  /** Of due deliveries that wait for their endpoint to recover. */
  oldestRestingSeconds: number;
  pending: number;
  active: number;
  disabled: number;
  closed: number;
  open: number;
  halfOpen: number;
  /** Of active endpoints: the worst progress towards being disabled, from 0 to 1, and how many have at least this progress. */
  worstProgress: number;
  atHalf: number;
  atSeventyPercent: number;
  atNinetyPercent: number;
}

/*
 * Each count reads one partial index. None of these contains delivered rows, so a table of millions costs nothing. The
 * oldest delivery of a bot is the first entry of its part of the index.
 */
const read = statement<DeliveryFigures>(
  "deliveries.figures",
  `with undelivered as (
    select coalesce(sum(failed), 0)::int8 as failed, coalesce(sum(unknown), 0)::int8 as unknown
    from bots cross join lateral (
      select count(*) filter (where state = 'failed') as failed, count(*) filter (where state = 'unknown') as unknown
      from deliveries where deliveries.bot_id = bots.bot_id and state in ('failed', 'unknown') and event_id >= $1
    ) as ended
  ),
  standing as (
    select endpoints.state, breaker, ${disableProgress} as progress, extract(epoch from now() - first.due_at) as age,
      rest_until <= now() and breaker = 'closed' as is_ready
    from endpoints cross join lateral (select ${firstDue("endpoints.bot_id")} as due_at) as first
  ),
  endpoint_figures as (
    select greatest(0, coalesce(max(age) filter (where state = 'active' and is_ready), 0))::float8 as "oldestReadySeconds",
      greatest(0, coalesce(max(age) filter (where state = 'active' and not is_ready), 0))::float8 as "oldestRestingSeconds",
      count(*) filter (where state = 'pending') as pending,
      count(*) filter (where state = 'active') as active,
      count(*) filter (where state = 'disabled') as disabled,
      count(*) filter (where breaker = 'closed') as closed,
      count(*) filter (where breaker = 'open') as open,
      count(*) filter (where breaker = 'half-open') as "halfOpen",
      coalesce(max(progress) filter (where state = 'active'), 0)::float8 as "worstProgress",
      count(*) filter (where state = 'active' and progress >= 0.5) as "atHalf",
      count(*) filter (where state = 'active' and progress >= 0.7) as "atSeventyPercent",
      count(*) filter (where state = 'active' and progress >= 0.9) as "atNinetyPercent"
    from standing
  )
  select *,
    (select count(*) from deliveries where state = 'waiting') as waiting,
    (select count(*) from deliveries where state = 'sending') as sending,
    (select count(*) from deliveries where state = 'held') as held
  from undelivered cross join endpoint_figures`,
);

const KEPT_DAYS = 30;

export async function readDeliveryFigures(database: AdDatabase): Promise<DeliveryFigures> {
  // Event ids begin with the millisecond of their event.
  const since = newEventId(Date.now() - KEPT_DAYS * 86_400_000, new Uint8Array(10));
  const [figures] = await database.run(read, [since]);
  if (!figures) throw new Error("the query of the delivery figures returned no row");
  return figures;
}
