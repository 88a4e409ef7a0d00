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
    ),
    -- Locked in the order of the key: two batches never wait for one another.
    codes_to_spend as (
      select current_codes.bot_id, current_codes.user_id, current_codes.reference
      from current_codes join enqueued on current_codes.bot_id = enqueued.bot_id
        and current_codes.user_id = enqueued.user_id
        and current_codes.reference = coalesce(enqueued.reference, '')
        and current_codes.code = enqueued.code
      order by 1, 2, 3
      for update of current_codes
    ),
    spent_codes as (
      update current_codes set has_earned = true from codes_to_spend
      where current_codes.bot_id = codes_to_spend.bot_id
        and current_codes.user_id = codes_to_spend.user_id
        and current_codes.reference = codes_to_spend.reference
    )`;
}
