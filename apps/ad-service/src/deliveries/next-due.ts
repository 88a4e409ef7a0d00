import { firstEventIdAt } from "@intermission/ad-core/code";
import { type Database, statement } from "@intermission/postgres/open-database";
import { weekStart } from "@intermission/postgres/partitions";

interface NextDue {
  /** Time until the next delivery becomes due; null if none will. */
  milliseconds: number | null;
  /** A delivery is due. If a claim found none, its endpoint has no capacity, or another statement has locked the delivery. */
  isDueNow: boolean;
}

const WEEK_MS = 7 * 86_400_000;
/** Webhooks are kept for 30 days, if nothing else is set, and partitions are made four weeks ahead. */
const [WEEKS_BEFORE, WEEKS_AFTER] = [6, 5];

/**
 * Adjacent ranges of event ids that cover all: from each of `lows` up to the `highs` of the same index. Those of the weeks about
 * now are the ranges of the partitions, so that a statement for one range reads one partition.
 */
function idRanges(now = Date.now()): [lows: string[], highs: string[]] {
  const starts = Array.from({ length: WEEKS_BEFORE + WEEKS_AFTER }, (_, index) =>
    firstEventIdAt(new Date(weekStart(now) + (index - WEEKS_BEFORE) * WEEK_MS)),
  );
  // "f" sorts after every event id.
  return [
    ["", ...starts],
    [...starts, "f"],
  ];
}

/** The first waiting delivery of these bots in the order of the index: one probe of the index for each week. */
const firstWaiting = (ofBots = "") => `(
      select first.* from weeks cross join lateral (
        select bot_id, is_bulk, due_at from deliveries
        where state = 'waiting' and event_id >= low and event_id < high ${ofBots}
        order by deliveries.bot_id, deliveries.is_bulk, deliveries.due_at limit 1
      ) as first
      order by first.bot_id, first.is_bulk, first.due_at limit 1
    )`;

/*
 * All bots with waiting deliveries, each with its first one. Weeks in which nothing waits, which are most, are left out first:
 * this makes it three to five times as fast with a thousand bots. A claim does not do this: it begins with the endpoints that
 * are ready, and would take twice as long.
 */
const waitingBots = `weeks as materialized (
    select low, high from unnest($1::text[], $2::text[]) as week (low, high)
    where exists (select from deliveries where state = 'waiting' and event_id >= low and event_id < high)
  ),
  waiting_bots as (
    ${firstWaiting()}
    union all
    select next.* from waiting_bots cross join lateral ${firstWaiting("and deliveries.bot_id > waiting_bots.bot_id")} as next
  )`;

const nextDue = statement<NextDue>(
  "deliveries.next-due",
  `with recursive ${waitingBots},
  next as (
    select greatest(first.due_at, backoff_until, case breaker when 'closed' then first.due_at else probe_at end) as at
    from waiting_bots join endpoints using (bot_id)
    -- The first one is a bulk replay only where nothing else waits.
    cross join lateral (
      select least(waiting_bots.due_at, case when not is_bulk then (
        select min(bulk.due_at) from weeks cross join lateral (
          select due_at from deliveries
          where deliveries.bot_id = endpoints.bot_id and deliveries.state = 'waiting' and deliveries.is_bulk = true
            and event_id >= low and event_id < high
          order by due_at limit 1
        ) as bulk
      ) end) as due_at
    ) as first
    where endpoints.state = 'active'
  )
  select extract(epoch from min(at) filter (where at > now()) - now())::float8 * 1000 as milliseconds,
    coalesce(bool_or(at <= now()), false) as "isDueNow"
  from next`,
);

/** When the next claim can find a delivery. */
export async function readNextDue(database: Database): Promise<NextDue> {
  const [row] = await database.run(nextDue, idRanges());
  return row ?? { milliseconds: null, isDueNow: false };
}
