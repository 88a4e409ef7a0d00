import { addToCampaignDays } from "../campaigns/add-to-campaign-days.ts";

const made = [
  ...["bot_id", "event_id", "event", "user_id", "code", "reference", "is_test"],
  ...["campaign_id", "creative_id", "price_micros", "occurred_at", "body"],
];
const visitor = ["user_agent", "address_hash", "network_hash", "suspicions"];

interface Enqueued {
  from: string;
  slots?: string;
  isClick?: boolean;
}

/** Longer than an exchange can last, and what a node needs to begin it: then any other may send the delivery. */
export const LEASE_SECONDS = 30;

/**
 * The one way in which an event is made: CTEs for the statement that changes the state, so that both commit together, with
 * what the campaign owes.
 *
 * `from` names an earlier CTE of the statement with the columns bot_id, event_id, event, user_id, code, reference (null
 * without one), is_test, campaign_id, creative_id, price_micros (null where nothing was sold), occurred_at and body (text
 * made by `encodeWebhookEvent`); of clicks also user_agent, address_hash, network_hash and suspicions. The CTE `enqueued`
 * holds what was made: a code that earned this event before is left out.
 *
 * `slots` is how many of them may be claimed for the node that runs the statement: an integer parameter that
 * `deliveries.sendNew` gives. The CTE `claimed_events` (bot_id, event_id, url, delivery_mode) holds those, for `sendNew` to
 * send. Return its rows beside the statement's own by `union all`: to join two CTEs compares each row with each. Without
 * `slots` nothing is claimed; after the commit call `deliveries.wake()`.
 */
export function enqueueWebhook({ from, slots, isClick = false }: Enqueued): string {
  const columns = [...made, ...(isClick ? visitor : [])].join(", ");
  return `
    enqueued as (
      insert into events (${columns})
      select ${columns}
      from ${from} order by bot_id, code, event
      on conflict do nothing
      returning bot_id, event_id, event, user_id, code, reference, is_test, campaign_id, price_micros, occurred_at
    ),
    ${slots === undefined ? "" : claimedEvents(slots)}
    enqueued_deliveries as (
      insert into deliveries (bot_id, event_id, state, attempts, fence, lease_until)
      select bot_id, event_id,
        case when is_claimed then 'sending'
          when (select state from endpoints where endpoints.bot_id = made.bot_id) = 'active' then 'waiting'
          -- Its endpoint is missing or not active: it goes out once that is.
          else 'held' end,
        is_claimed::integer, is_claimed::integer,
        case when is_claimed then clock_timestamp() + interval '${LEASE_SECONDS} seconds' end
      from (
        select bot_id, event_id, ${slots === undefined ? "false" : "event_id in (select event_id from claimed_events)"} as is_claimed
        from enqueued offset 0
      ) as made
      order by bot_id, event_id
    ),
    sold as (select campaign_id, event, price_micros, occurred_at from enqueued where price_micros is not null),
    campaign_days_summed as (${addToCampaignDays("sold")})`;
}

/*
 * An endpoint is claimed for as the loop would (claim-deliveries.ts): active, awake, its breaker closed, with room, least
 * recently served first, under a lock on its claims. A row that another statement has locked is never waited for, since this
 * statement holds rows that visitors wait for: its events wait for the loop. So do the events of an endpoint for which
 * anything is due: what came first goes first, and a backlog is never overtaken for ever. What is sent again in bulk may be
 * overtaken, as the loop does it.
 */
const claimedEvents = (slots: string) => `enqueued_of_bots as (
      select bot_id, array_agg(event_id order by event_id) as event_ids from enqueued where ${slots} > 0 group by bot_id
    ),
    ready_endpoints as (
      select enqueued_of_bots.bot_id, event_ids, url, ended, room, last_served_at
      from enqueued_of_bots cross join lateral (
        select url, ended, max_in_flight - greatest(0, claimed - ended) as room, last_served_at
        from endpoint_claims join endpoints using (bot_id)
        where endpoint_claims.bot_id = enqueued_of_bots.bot_id and state = 'active' and breaker = 'closed'
          and rest_until <= now() and claimed - ended < max_in_flight
          and (
            select due_at from deliveries where deliveries.bot_id = endpoints.bot_id and deliveries.state = 'waiting'
              and is_bulk = false and due_at <= now() order by due_at limit 1
          ) is null
        for update of endpoint_claims skip locked
      ) as endpoint
    ),
    claimed_events as (
      select ready.bot_id, event_id, url, ended, (select delivery_mode from bots where bots.bot_id = ready.bot_id) as delivery_mode
      from (select * from ready_endpoints order by last_served_at) as ready
      cross join lateral unnest(event_ids[1:room]) as ids(event_id)
      limit ${slots}
    ),
    endpoints_served as (
      update endpoint_claims set claimed = greatest(claimed, ended) + number, last_served_at = clock_timestamp()
      from (select bot_id, ended, count(*) as number from claimed_events group by bot_id, ended) as taken
      where endpoint_claims.bot_id = taken.bot_id
    ),`;
