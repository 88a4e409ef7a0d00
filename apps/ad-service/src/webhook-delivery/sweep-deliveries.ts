import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

/** Each sweep is short; one that moved this many has more to do, and is repeated at once. */
export const MOST_AT_ONCE = 1000;

// A node that died consumed no attempt. For at-most-once bots nobody knows what it sent, and nobody sends again.
const reap = statement<{ state: string }>(
  "deliveries.reap",
  `with expired as (
    select deliveries.bot_id, event_id, delivery_mode = 'at-most-once' as is_final
    from deliveries join bots using (bot_id)
    where state = 'sending' and lease_until < clock_timestamp()
    order by lease_until limit ${MOST_AT_ONCE} for update of deliveries skip locked
  )
  update deliveries set lease_until = null,
    state = case when is_final then 'unknown' else 'waiting' end,
    attempts = attempts - case when is_final then 0 else 1 end,
    due_at = now(),
    finished_at = case when is_final then now() end
  from expired where deliveries.bot_id = expired.bot_id and deliveries.event_id = expired.event_id
  returning deliveries.state`,
);

// Asked again and again, since an event can be held by a statement that began before its bot's address was stored.
const unhold = statement<never>(
  "deliveries.unhold",
  `with ready as (
    select held.bot_id, held.event_id
    from bots cross join lateral (
      select deliveries.bot_id, event_id from deliveries
      where deliveries.bot_id = bots.bot_id and state = 'held'
      order by event_id limit ${MOST_AT_ONCE} for update skip locked
    ) as held
    where bots.webhook_url is not null and exists (
      select from bot_tokens where bot_tokens.bot_id = bots.bot_id
        and (bot_tokens.state in ('active', 'next') or bot_tokens.state = 'retiring' and revoke_at > now())
    )
    limit ${MOST_AT_ONCE}
  )
  update deliveries set state = 'waiting', due_at = now()
  from ready where deliveries.bot_id = ready.bot_id and deliveries.event_id = ready.event_id
  returning 1`,
);

/** Returns what died nodes left behind, and releases what was held for bots that can be sent to by now. */
export async function sweepDeliveries(
  database: AdDatabase,
): Promise<{ returned: number; unknown: number; unheld: number }> {
  const reaped = await database.run(reap, []);
  const unheld = await database.run(unhold, []);
  const unknown = reaped.filter(({ state }) => state === "unknown").length;
  return { returned: reaped.length - unknown, unknown, unheld: unheld.length };
}
