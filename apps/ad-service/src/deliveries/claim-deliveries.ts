import { type Database, statement } from "@intermission/postgres/open-database";
import { thisSession } from "@intermission/postgres/store-session";
import type { DeliveryMode } from "../bots/bots.ts";

export interface ClaimedDelivery {
  botId: string;
  eventId: string;
  /** The number of the attempt that this claim is for. */
  attempt: number;
  fence: number;
  /** Failures so far that the schedule counts. */
  scheduleStep: number;
  /** Requested explicitly: its failure does not change the schedule. */
  isReplay: boolean;
  body: string;
  /** The endpoint's current address. */
  url: string;
  deliveryMode: DeliveryMode;
  /** The trace of the request that earned the event; null where nothing is traced. */
  traceparent: string | null;
}

/** SQL for when a bot's first waiting delivery is due, bulk replays included; null when none waits. */
export function firstDue(bot: string): string {
  const firstOf = (isBulk: boolean) => `(
      select due_at from deliveries
      where deliveries.bot_id = ${bot} and deliveries.state = 'waiting' and is_bulk = ${isBulk} order by due_at limit 1
    )`;
  return `(
    select min(due_at) from (${firstOf(false)} union all ${firstOf(true)}) as lanes
  )`;
}

const firstInOrder = "order by deliveries.bot_id, deliveries.is_bulk, deliveries.due_at limit 1";

/** The bots with waiting deliveries, each with the first of them in the order of the index, which one probe finds. */
const waitingBots = `waiting_bots as (
    (select bot_id, is_bulk, due_at from deliveries where state = 'waiting' ${firstInOrder})
    union all
    select next.* from waiting_bots cross join lateral (
      select bot_id, is_bulk, due_at from deliveries
      where state = 'waiting' and deliveries.bot_id > waiting_bots.bot_id ${firstInOrder}
    ) as next
  )`;

const dueOf = (bot: string, isBulk: boolean) => `from deliveries
      where deliveries.bot_id = ${bot} and deliveries.state = 'waiting' and is_bulk = ${isBulk} and due_at <= now()`;
const rowsOf = (isBulk: boolean) => `select * from (
        select event_id ${dueOf("ready.bot_id", isBulk)} order by due_at limit ready.room for update skip locked
      ) as in_order`;

/*
 * Selects endpoints before rows, least recently served first, each with at most as many rows as it has capacity for: a dead
 * endpoint with a long queue does not delay the others. The lock on their claims enforces the limits over all nodes: the
 * losing node skips a row, or checks it again as the winner left it. The claim does not wait for recordings, so the number
 * of ended claims may be slightly old and too small; the capacity is then underestimated. An open breaker lets one probe
 * through at a time. Bulk replays are an endpoint's last rows: new events do not wait for a month that is sent again.
 *
 * A claim counts as an attempt unless it is corrected later, so that for at-most-once bots the committed claim is the
 * attempt. Suspended bots are included: what was earned is delivered.
 *
 * Each body is looked up by itself (`limit 1`): in a join, the planner may take the bot alone as the key, and read all bodies
 * of the bot for each one.
 */
const claim = statement<ClaimedDelivery>(
  "deliveries.claim",
  `with recursive ${waitingBots},
  ready as (
    select endpoints.bot_id, endpoints.url, ended, last_served_at, breaker <> 'closed' as is_probe,
      case breaker when 'closed' then max_in_flight - greatest(0, claimed - ended) else 1 end as room
    from waiting_bots join endpoints using (bot_id) join endpoint_claims using (bot_id)
    where endpoints.state = 'active' and backoff_until <= now()
      and case breaker when 'closed' then claimed - ended < max_in_flight else claimed <= ended and probe_at <= now() end
      and (waiting_bots.due_at <= now() or not is_bulk and exists (select ${dueOf("endpoints.bot_id", true)}))
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
    update endpoints set version = version + 1, breaker = 'half-open' from due where is_probe and endpoints.bot_id = due.bot_id and breaker = 'open'
  ),
  claimed as (
    update deliveries
    set state = 'sending', attempts = attempts + 1, fence = fence + 1,
      lease_until = clock_timestamp() + make_interval(secs => $2), claimed_by = ${thisSession}
    from due where deliveries.bot_id = due.bot_id and deliveries.event_id = due.event_id
    returning deliveries.bot_id, deliveries.event_id, deliveries.attempts, deliveries.fence, deliveries.schedule_step,
      deliveries.resume_state, due.url
  )
  select bot_id as "botId", event_id as "eventId", claimed.attempts as attempt, claimed.fence,
    schedule_step as "scheduleStep", resume_state is not null as "isReplay",
    sent.body, sent.traceparent, claimed.url, bots.delivery_mode as "deliveryMode"
  from claimed join bots using (bot_id) cross join lateral (
    select body, traceparent from event_bodies
    where event_bodies.bot_id = claimed.bot_id and event_bodies.event_id = claimed.event_id limit 1
  ) as sent`,
);

/** Claims at most `limit` due deliveries for this node: each is leased, and its fencing number is incremented. */
export async function claimDeliveries(
  database: Database,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<ClaimedDelivery[]> {
  return database.run(claim, [limit, leaseSeconds]);
}

const release = statement<never>(
  "deliveries.release",
  `with released as (
    update deliveries set state = $4, attempts = attempts - 1, lease_until = null,
      due_at = case $4 when 'held' then due_at else now() + make_interval(secs => $5) end
    from unnest($1::text[], $2::text[], $3::bigint[]) as released(bot_id, event_id, fence)
    where deliveries.bot_id = released.bot_id and deliveries.event_id = released.event_id
      and deliveries.fence = released.fence and lease_until is not null
    returning deliveries.bot_id
  ),
  ended as (select bot_id, count(*) as number from released group by bot_id order by bot_id)
  update endpoints set ended = endpoints.ended + number from ended where endpoints.bot_id = ended.bot_id`,
);

/** Releases claims for which nothing was sent: they consume no attempt. */
export async function releaseDeliveries(
  database: Database,
  claims: readonly Pick<ClaimedDelivery, "botId" | "eventId" | "fence">[],
  { to, delaySeconds = 0 }: { to: "waiting" | "held"; delaySeconds?: number },
): Promise<void> {
  if (claims.length === 0) return;
  await database.run(release, [
    claims.map(({ botId }) => botId),
    claims.map(({ eventId }) => eventId),
    claims.map(({ fence }) => fence),
    to,
    delaySeconds,
  ]);
}
