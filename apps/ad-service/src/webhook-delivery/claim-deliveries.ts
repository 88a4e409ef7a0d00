import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { DeliveryMode } from "../bots/schema.ts";

export interface ClaimedDelivery {
  botId: string;
  eventId: string;
  /** The number of the attempt that this claim is for. */
  attempt: number;
  fence: number;
  body: string;
  webhookUrl: string | null;
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

/*
 * Each bot with something waiting gives no more rows than its endpoint has room for: a dead endpoint with a long queue
 * costs the others nothing. The claim counts as an attempt until we know better, so that for at-most-once bots the
 * committed claim is the attempt. Suspended bots are no exception: what was earned is delivered.
 */
const claim = statement<ClaimedDelivery>(
  "deliveries.claim",
  `with recursive ${waitingBots},
  endpoints as (
    select waiting_bots.bot_id, first.due_at, $3 - coalesce(busy.in_flight, 0) as room
    from waiting_bots
    cross join lateral (
      select due_at from deliveries where deliveries.bot_id = waiting_bots.bot_id and state = 'waiting' order by due_at limit 1
    ) as first
    left join unnest($1::text[], $2::int[]) as busy(bot_id, in_flight) on busy.bot_id = waiting_bots.bot_id
    where first.due_at <= now()
  ),
  due as (
    select endpoints.bot_id, rows.event_id
    from (select * from endpoints where room > 0 order by due_at) as endpoints
    cross join lateral (
      select event_id from deliveries
      where deliveries.bot_id = endpoints.bot_id and state = 'waiting' and due_at <= now()
      order by due_at limit endpoints.room for update skip locked
    ) as rows
    limit $4
  ),
  claimed as (
    update deliveries
    set state = 'sending', attempts = attempts + 1, fence = fence + 1,
      lease_until = clock_timestamp() + make_interval(secs => $5)
    from due where deliveries.bot_id = due.bot_id and deliveries.event_id = due.event_id
    returning deliveries.bot_id, deliveries.event_id, deliveries.attempts, deliveries.fence
  )
  select bot_id as "botId", event_id as "eventId", claimed.attempts as attempt, claimed.fence,
    events.body, bots.webhook_url as "webhookUrl", bots.delivery_mode as "deliveryMode"
  from claimed join events using (bot_id, event_id) join bots using (bot_id)`,
);

/** Takes due deliveries for this node: each is leased, and its fencing number grows. Endpoint settings are read now. */
export async function claimDeliveries(
  database: AdDatabase,
  room: { inFlight: ReadonlyMap<string, number>; perEndpoint: number; limit: number; leaseSeconds: number },
): Promise<ClaimedDelivery[]> {
  const { inFlight, perEndpoint, limit, leaseSeconds } = room;
  return database.run(claim, [[...inFlight.keys()], [...inFlight.values()], perEndpoint, limit, leaseSeconds]);
}

const nextDue = statement<{ milliseconds: number | null }>(
  "deliveries.next-due",
  `with recursive ${waitingBots}
  select extract(epoch from min(next.due_at) - now())::float8 * 1000 as milliseconds
  from waiting_bots cross join lateral (
    select due_at from deliveries
    where deliveries.bot_id = waiting_bots.bot_id and state = 'waiting' and due_at > now() order by due_at limit 1
  ) as next`,
);

/** Milliseconds until the next delivery falls due; undefined when none waits for a moment to come. */
export async function millisecondsToNextDue(database: AdDatabase): Promise<number | undefined> {
  const [row] = await database.run(nextDue, []);
  return row?.milliseconds ?? undefined;
}
