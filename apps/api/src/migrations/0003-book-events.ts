/**
 * Receipt, code, daily count, balance and ledger entry in one statement, so in one commit. Returns how many of the lines
 * were new, by the reason why they pay nothing (null: they pay).
 *
 * Each decision stands on a row that this statement has locked, and reads it as the lock found it: `on conflict` sees the
 * newest version of a row, whatever the statement's snapshot says. So two nodes with two events of one code, or of one
 * user at his cap, cannot both pay. Every node locks in one order, table after table and inside a table by key: each step
 * sorts what the step before has returned, and so waits for its end. The lines come in the order of their event ids, and
 * no event, code or user comes twice.
 *
 * A function keeps its plan, whatever the session's settings are: planning anew cost 0.3 ms a call, 10–20 µs an event, and
 * more on the embedded store. No table is joined, only what the steps return, so the plan that was made while the tables
 * were empty stays good. The lines come as one JSON text, which costs the caller less than an array for each field.
 */
export const migration = `
create function book_events(
  bot text, lines json, is_two_field boolean,
  worth_of_view bigint, worth_of_link bigint, pays_code_once boolean, daily_cap integer
) returns table (reason text, events bigint)
language plpgsql set plan_cache_mode to force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  with arrived as materialized (
    select line.*, (coalesce(occurred_at, now()) at time zone 'UTC')::date as day,
      case event when 'rewarded' then worth_of_view else worth_of_link end as worth
    from json_to_recordset(lines) as line (
      event_id text, event text, user_id text, code text, reference text, occurred_at timestamptz, is_test boolean,
      raw_body text, signature_header text, repeats integer
    )
  ), received as (
    insert into receipts as kept
      (bot_id, event_id, event, user_id, raw_body, signature_header, is_two_field, duplicates, last_duplicate_at)
    select bot, event_id, event, user_id, raw_body, signature_header, book_events.is_two_field, repeats,
      case when repeats > 0 then now() end
    from arrived
    -- Where reconciliation was first, the webhook brings the bytes; where it is second, it changes nothing.
    on conflict (bot_id, event_id) do update set
      raw_body = coalesce(kept.raw_body, excluded.raw_body),
      signature_header = coalesce(kept.signature_header, excluded.signature_header),
      duplicates = kept.duplicates + excluded.duplicates + (kept.raw_body is not null)::integer,
      last_duplicate_at = case when kept.raw_body is not null or excluded.duplicates > 0 then now() end
    where excluded.raw_body is not null
    returning event_id, xmax = 0 as is_new
  ), fresh as materialized (
    select arrived.* from arrived join received using (event_id) where is_new
  ), settled as (
    insert into codes as kept (bot_id, code, user_id, reference, rewarded_by, direct_link_by, settled_by)
    select bot, code, user_id, reference, case event when 'rewarded' then event_id end,
      case event when 'direct_link' then event_id end, case when worth > 0 then event_id end
    from fresh where code is not null and not is_test order by code
    on conflict (bot_id, code) do update set
      rewarded_by = coalesce(kept.rewarded_by, excluded.rewarded_by),
      direct_link_by = coalesce(kept.direct_link_by, excluded.direct_link_by),
      settled_by = coalesce(kept.settled_by, excluded.settled_by)
    where kept.user_id = excluded.user_id
    returning code, reference, rewarded_by, direct_link_by, settled_by
  ), judged as materialized (
    select event_id, event, user_id, fresh.code, coalesce(fresh.reference, settled.reference) as reference, day, worth,
      case
        when is_test then 'test'
        when fresh.code is not null and settled.code is null then 'code-of-another-user'
        when worth = 0 then 'no-reward'
        when pays_code_once and settled_by <> event_id then 'code-already-paid'
        when case event when 'rewarded' then rewarded_by else direct_link_by end <> event_id then 'event-already-booked'
      end as refusal
    from fresh left join settled using (code)
  ), counted as (
    insert into daily_rewards as kept (bot_id, user_id, day, counted)
    select bot, user_id, day, 1 from judged where refusal is null and daily_cap is not null order by user_id
    on conflict (bot_id, user_id, day) do update set counted = kept.counted + 1
    returning user_id, counted
  ), priced as materialized (
    select judged.*, coalesce(refusal, case when counted > daily_cap then 'daily-cap' end) as reason
    from judged left join counted using (user_id)
  ), credited as (
    insert into balances as kept (bot_id, user_id, balance)
    select bot, user_id, worth from priced where reason is null order by user_id
    on conflict (bot_id, user_id) do update set balance = kept.balance + excluded.balance
    returning user_id, balance
  ), booked as (
    insert into ledger_entries (bot_id, user_id, event, code, reference, event_id, amount, reason, balance_after)
    select bot, user_id, event, code, reference, event_id, case when reason is null then worth else 0 end, reason, balance
    from priced left join credited using (user_id)
    returning reason
  )
  select reason, count(*) from booked group by reason;
end $$;
`;
