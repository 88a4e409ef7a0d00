import { addToCampaignDays } from "../campaigns/add-to-campaign-days.ts";

const made = [
  ...["bot_id", "event_id", "event", "user_id", "code", "reference", "is_test"],
  ...["campaign_id", "creative_id", "price_micros", "occurred_at", "body"],
];
const visitor = ["user_agent", "address_hash", "network_hash", "suspicions"];

/**
 * The one way in which an event is made: CTEs for the statement that changes the state, so that both commit together, with
 * what the campaign owes.
 *
 * `from` names an earlier CTE of the statement with the columns bot_id, event_id, event, user_id, code, reference (null
 * without one), is_test, campaign_id, creative_id, price_micros (null where nothing was sold), occurred_at and body (text
 * made by `encodeWebhookEvent`); of clicks also user_agent, address_hash, network_hash and suspicions. The CTE `enqueued`
 * holds what was made: a code that earned this event before is left out. After the commit call `wakeDeliveries()`.
 *
 * Events of a bot whose endpoint is missing or not active are held; they go out once it is.
 */
export function enqueueWebhook({ from, isClick = false }: { from: string; isClick?: boolean }): string {
  const columns = [...made, ...(isClick ? visitor : [])].join(", ");
  return `
    enqueued as (
      insert into events (${columns})
      select ${columns}
      from ${from} order by bot_id, code, event
      on conflict do nothing
      returning bot_id, event_id, event, user_id, code, reference, is_test, campaign_id, price_micros, occurred_at
    ),
    enqueued_deliveries as (
      insert into deliveries (bot_id, event_id, state)
      select bot_id, event_id, case endpoints.state when 'active' then 'waiting' else 'held' end
      from enqueued left join endpoints using (bot_id) order by bot_id, event_id
    ),
    sold as (select campaign_id, event, price_micros, occurred_at from enqueued where price_micros is not null),
    campaign_days_summed as (${addToCampaignDays("sold")})`;
}
