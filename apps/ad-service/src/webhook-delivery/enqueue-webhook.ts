/**
 * The one way in which an event is made: CTEs for the statement that changes the state, so that both commit together.
 *
 * `from` names an earlier CTE of the statement with the columns bot_id, event_id, event, user_id, code, reference (null
 * without one), is_test, occurred_at and body (text made by `encodeWebhookEvent`). The CTE `enqueued` (bot_id, event_id,
 * event, user_id, code, reference, is_test, occurred_at) holds what was truly made: a code that earned this event before
 * is left out, and whoever counts or charges must go by `enqueued`. After the commit call `wakeDeliveries()`.
 *
 * Events of a bot whose endpoint is missing or not active are held; they go out once it is.
 */
export function enqueueWebhook({ from }: { from: string }): string {
  return `
    enqueued as (
      insert into events (bot_id, event_id, event, user_id, code, reference, is_test, occurred_at, body)
      select bot_id, event_id, event, user_id, code, reference, is_test, occurred_at, body
      from ${from} order by bot_id, code, event
      on conflict do nothing
      returning bot_id, event_id, event, user_id, code, reference, is_test, occurred_at
    ),
    enqueued_deliveries as (
      insert into deliveries (bot_id, event_id, state)
      select bot_id, event_id, case endpoints.state when 'active' then 'waiting' else 'held' end
      from enqueued left join endpoints using (bot_id) order by bot_id, event_id
    )`;
}
