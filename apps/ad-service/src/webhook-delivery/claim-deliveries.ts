import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { DeliveryMode } from "../bots/schema.ts";
import { firstDue } from "./first-due.ts";

export interface ClaimedDelivery {
  botId: string;
  eventId: string;
  /** The number of the attempt that this claim is for. */
  attempt: number;
  fence: number;
  /** Failures so far that the schedule counts. */
  scheduleStep: number;
  /** Asked for by somebody: its failure does not touch the schedule. */
  isReplay: boolean;
  body: string;
  /** The endpoint's address now. */
  url: string;
  deliveryMode: DeliveryMode;
}

/** The bots with something waiting, by one probe of the index each. */
const waitingBots = `waiting_bots as (
    (select bot_id from deliveries where state = 'waiting' order by bot_id limit 1)
    union all
    select (
      select deliveries.bot_id from deliveries
      where state = 'waiting' and deliveries.bot_id > waiting_bots.bot_id order by deliveries.bot_id limit 1
    )
    from waiting_bots where waiting_bots.bot_id is not null
  )`;

const dueOf = (bot: string, isBulk: boolean) => `from deliveries
      where deliveries.bot_id = ${bot} and deliveries.state = 'waiting' and is_bulk = ${isBulk} and due_at <= now()`;
const rowsOf = (isBulk: boolean) => `select * from (
        select event_id ${dueOf("ready.bot_id", isBulk)} order by due_at limit ready.room for update skip locked
      ) as in_order`;

/*
 * Endpoints first, least recently served first, each with no more rows than it has room for: a dead endpoint with a long
 * queue costs the others nothing. The lock on their claims makes the limits hold over all nodes: the loser skips a row, or
 * judges it again as the winner left it. Recordings are not waited for: the number of ended claims may be a moment old, and
 * then too small, so that there is less room than there is. An open breaker lets one probe through at a time. Of one endpoint's rows those that
 * were asked for in bulk come last: what was just earned does not wait for a month that is sent again.
 *
 * The claim counts as an attempt until we know better, so that for at-most-once bots the committed claim is the attempt.
 * Suspended bots are no exception: what was earned is delivered.
 */
const claim = statement<ClaimedDelivery>(
  "deliveries.claim",
  `with recursive ${waitingBots},
  ready as (
    select endpoints.bot_id, endpoints.url, ended, last_served_at, breaker <> 'closed' as is_probe,
      case breaker when 'closed' then max_in_flight - greatest(0, claimed - ended) else 1 end as room
    from waiting_bots join endpoints using (bot_id) join endpoint_claims using (bot_id)
    where endpoints.state = 'active' and rest_until <= now()
      and case breaker when 'closed' then claimed - ended < max_in_flight else claimed <= ended and probe_at <= now() end
      and (exists (select ${dueOf("endpoints.bot_id", false)}) or exists (select ${dueOf("endpoints.bot_id", true)}))
    order by last_served_at limit $1
    for update of endpoint_claims skip locked
  ),
  due as (
    select ready.bot_id, url, ended, is_probe, rows.event_id
    from (select * from ready order by last_served_at) as ready
    cross join lateral (
      ${rowsOf(false)} union all ${rowsOf(true)} limit ready.room
    ) as rows
    limit $1
  ),
  served as (
    update endpoint_claims set claimed = greatest(claimed, ended) + number, last_served_at = clock_timestamp()
    from (select bot_id, ended, count(*) as number from due group by bot_id, ended) as taken
    where endpoint_claims.bot_id = taken.bot_id
  ),
  probed as (
    update endpoints set breaker = 'half-open' from due where is_probe and endpoints.bot_id = due.bot_id and breaker = 'open'
  ),
  claimed as (
    update deliveries
    set state = 'sending', attempts = attempts + 1, fence = fence + 1,
      lease_until = clock_timestamp() + make_interval(secs => $2)
    from due where deliveries.bot_id = due.bot_id and deliveries.event_id = due.event_id
    returning deliveries.bot_id, deliveries.event_id, deliveries.attempts, deliveries.fence, deliveries.schedule_step,
      deliveries.resume_state, due.url
  )
  select bot_id as "botId", event_id as "eventId", claimed.attempts as attempt, claimed.fence,
    schedule_step as "scheduleStep", resume_state is not null as "isReplay",
    events.body, claimed.url, bots.delivery_mode as "deliveryMode"
  from claimed join events using (bot_id, event_id) join bots using (bot_id)`,
);

/** Takes due deliveries for this node, `limit` at most: each is leased, and its fencing number grows. */
export async function claimDeliveries(
  database: AdDatabase,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<ClaimedDelivery[]> {
  return database.run(claim, [limit, leaseSeconds]);
}

export interface NextDue {
  /** Until something may be sent that may not be sent yet; null when nothing waits for a moment to come. */
  milliseconds: number | null;
  /** Something may be sent now: if a claim found nothing, its endpoint has no room, or another statement has it locked. */
  isDueNow: boolean;
}

const nextDue = statement<NextDue>(
  "deliveries.next-due",
  `with recursive ${waitingBots},
  next as (
    select greatest(first.due_at, rest_until, case breaker when 'closed' then first.due_at else probe_at end) as at
    from waiting_bots join endpoints using (bot_id)
    cross join lateral (select ${firstDue("endpoints.bot_id")} as due_at) as first
    where endpoints.state = 'active'
  )
  select extract(epoch from min(at) filter (where at > now()) - now())::float8 * 1000 as milliseconds,
    coalesce(bool_or(at <= now()), false) as "isDueNow"
  from next`,
);

/** When a claim can find something again. */
export async function readNextDue(database: AdDatabase): Promise<NextDue> {
  const [row] = await database.run(nextDue, []);
  return row ?? { milliseconds: null, isDueNow: false };
}
