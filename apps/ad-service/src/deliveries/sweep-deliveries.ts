import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

/** Rows of one sweep, to keep it short. A sweep that moved this many has more to do and is repeated immediately. */
export const MOST_AT_ONCE = 1000;

/*
 * Takes back expired claims of crashed nodes: they consume no attempt. For at-most-once bots it is not known whether the
 * event was sent, so it is not sent again. A test fails: no caller waits for its answer any more.
 */
const reap = statement<{ state: string }>(
  "deliveries.reap",
  `with leased as (
    select bot_id, event_id, resume_state from deliveries where deliveries.state = 'sending' and lease_until < now()
    order by lease_until limit ${MOST_AT_ONCE} for update skip locked
  ),
  expired as (
    select bot_id, event_id, is_test,
      case when is_test then 'failed' when delivery_mode <> 'at-most-once' then 'waiting'
        when resume_state = 'delivered' then 'delivered' else 'unknown' end as next_state
    from leased join bots using (bot_id) join events using (bot_id, event_id)
  ),
  reaped as (
    update deliveries set lease_until = null, state = next_state, due_at = now(),
      attempts = attempts - case next_state when 'waiting' then 1 else 0 end,
      finished_at = case next_state when 'waiting' then null else now() end,
      end_reason = case next_state when 'failed' then 'test' when 'unknown' then 'at-most-once' end,
      resume_state = case next_state when 'waiting' then resume_state end
    from expired where deliveries.bot_id = expired.bot_id and deliveries.event_id = expired.event_id
    returning deliveries.bot_id, deliveries.state, is_test
  ),
  ended as (select bot_id, count(*) as number from reaped where not is_test group by bot_id order by bot_id),
  freed as (
    update endpoints set ended = endpoints.ended + number from ended where endpoints.bot_id = ended.bot_id
  )
  select state from reaped`,
);

/** SQL for whether the bot of `endpoints` has a token to sign with. */
export const hasTokens = `exists (
      select from bot_tokens where bot_tokens.bot_id = endpoints.bot_id
        and (bot_tokens.state in ('active', 'next') or bot_tokens.state = 'retiring' and revoke_at > now())
    )`;

// Repeated, since a statement that began before the endpoint became active can still insert a held event.
const unhold = statement<never>(
  "deliveries.unhold",
  `with ready as (
    select held.bot_id, held.event_id
    from endpoints cross join lateral (
      select deliveries.bot_id, event_id from deliveries
      where deliveries.bot_id = endpoints.bot_id and deliveries.state = 'held'
      order by event_id limit ${MOST_AT_ONCE} for update skip locked
    ) as held
    where endpoints.state = 'active' and ${hasTokens}
    limit ${MOST_AT_ONCE}
  )
  update deliveries set state = 'waiting', due_at = now()
  from ready where deliveries.bot_id = ready.bot_id and deliveries.event_id = ready.event_id
  returning 1`,
);

// Waiting deliveries are sent only to active endpoints; those of other endpoints become held.
const hold = statement<never>(
  "deliveries.hold",
  `with idle as (
    select bot_id from endpoints where state <> 'active'
    union all
    select bot_id from bots where not exists (select from endpoints where endpoints.bot_id = bots.bot_id)
  ),
  stranded as (
    select waiting.bot_id, waiting.event_id
    from idle cross join lateral (
      select deliveries.bot_id, event_id from deliveries
      where deliveries.bot_id = idle.bot_id and deliveries.state = 'waiting'
      order by is_bulk, due_at limit ${MOST_AT_ONCE} for update skip locked
    ) as waiting
    limit ${MOST_AT_ONCE}
  )
  update deliveries set state = 'held'
  from stranded where deliveries.bot_id = stranded.bot_id and deliveries.event_id = stranded.event_id
  returning 1`,
);

/** Takes back deliveries of crashed nodes; holds those of inactive endpoints and releases held ones of active endpoints. */
export async function sweepDeliveries(
  database: AdDatabase,
): Promise<{ returned: number; unknown: number; unheld: number; held: number }> {
  const reaped = await database.run(reap, []);
  const unheld = await database.run(unhold, []);
  const held = await database.run(hold, []);
  const unknown = reaped.filter(({ state }) => state === "unknown").length;
  return { returned: reaped.length - unknown, unknown, unheld: unheld.length, held: held.length };
}
