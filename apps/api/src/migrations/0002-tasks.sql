-- Tasks: what a join earns, and what takes it back when the user leaves too early.
-- works-with: 0001-schema
alter table bots
  add column reward_task integer not null default 1 check (reward_task between 0 and 1000000);

-- A reversal is an event that takes units. It may leave a user who spent them with a balance below zero, so that leaving after
-- the coins earns nothing; what the user earns next fills it up.
alter table ledger_entries
  drop constraint ledger_entries_event_check,
  add constraint ledger_entries_event_check
    check (event in ('rewarded', 'direct_link', 'task', 'task_reversed')) not valid,
  drop constraint ledger_entries_balance_after_check,
  drop constraint ledger_entries_check,
  add constraint ledger_entries_check
    check (case when event is null then event_id is null and idempotency_key is not null and amount < 0
      else event_id is not null and idempotency_key is null
        and case event when 'task_reversed' then amount <= 0 else amount >= 0 end end) not valid;
alter table balances
  drop constraint balances_balance_check,
  add constraint balances_balance_check check (balance between -9007199254740991 and 9007199254740991) not valid;
alter table receipts
  drop constraint receipts_event_check,
  add constraint receipts_event_check
    check (event in ('rewarded', 'direct_link', 'task', 'task_reversed')) not valid;

-- As `ledger_facts`, and what tasks need: what the code's task has paid, and whether its reversal is recorded.
create function facts_of_lines(bot text, lines json) returns table (
  event_id text, event text, user_id text, code text, reference text, start_param text, day date, is_test boolean,
  revenue_micros bigint, currency text, raw_body text, signature text, repeats integer,
  own_reference text, known_user_id text, is_known boolean, lacks_bytes boolean,
  entries integer, is_settled boolean, has_earned boolean, is_reversed boolean, task_paid bigint, is_foreign boolean
) language sql stable as $$
  select line.*, coalesce(line.reference, issued.reference), known.user_id, known.user_id is not null, known.lacks_bytes,
    earlier.entries, earlier.is_settled, earlier.has_earned, earlier.is_reversed, earlier.task_paid,
    coalesce(earlier.owner, issued.user_id, line.user_id) <> line.user_id
  from json_to_recordset(lines) as line (
    event_id text, event text, user_id text, code text, reference text, start_param text, day date, is_test boolean,
    revenue_micros bigint, currency text, raw_body text, signature text, repeats integer
  )
  left join lateral (
    select entry.user_id, entry.raw_body is null as lacks_bytes from ledger_entries as entry
    where entry.bot_id = bot and entry.event_id = line.event_id limit 1
  ) as known on true
  left join lateral (
    select issued.user_id, issued.reference from codes as issued
    where issued.bot_id = bot and issued.code = line.code limit 1
  ) as issued on true
  cross join lateral (
    select count(*)::integer as entries,
      max(entry.user_id) filter (where counts) as owner,
      bool_or(counts and coalesce(reason, '') <> 'no-reward') as is_settled,
      bool_or(entry.event = line.event and counts) as has_earned,
      bool_or(entry.event = 'task_reversed' and counts) as is_reversed,
      coalesce(sum(entry.amount) filter (where entry.event = 'task'), 0)::bigint as task_paid
    from ledger_entries as entry
      cross join lateral (select coalesce(entry.reason, '') not in ('test', 'code-of-another-user') as counts) as judged
    where entry.bot_id = bot and entry.code = line.code
  ) as earlier
$$;

-- What an event pays or takes, where nothing is against it.
create function worth_of(
  event text, of_view bigint, of_link bigint, of_task bigint, task_paid bigint
) returns bigint language sql immutable as $$
  select case event
    when 'rewarded' then of_view when 'direct_link' then of_link when 'task' then of_task when 'task_reversed' then -task_paid
  end
$$;

-- Why an event pays or takes nothing, without the daily cap; null: it does. The webhooks of a task come in any order: a reversal
-- that comes first takes nothing, and then its task pays nothing.
create function reason_unpaid(
  event text, is_test boolean, is_foreign boolean, worth bigint, is_code_paid boolean, has_earned boolean, is_reversed boolean
) returns text language sql immutable as $$
  select case
    when is_test then 'test'
    when is_foreign then 'code-of-another-user'
    when event = 'task_reversed' then
      case when has_earned then 'event-already-recorded' when worth = 0 then 'task-not-paid' end
    when is_reversed then 'task-reversed'
    when worth = 0 then 'no-reward'
    when is_code_paid then 'code-already-paid'
    when has_earned then 'event-already-recorded'
  end
$$;

-- As `record_events`, and tasks: a reversal takes what the task of its code has paid, in the statement that records it. Returns
-- also the reversals, as the reason `reversed`. The daily cap is of views and clicks.
create function record_lines(
  bot text, lines json, worth_of_view bigint, worth_of_link bigint, worth_of_task bigint, pays_code_once boolean,
  daily_cap integer, is_retry boolean
) returns table (reason text, events bigint, event_ids text[])
language plpgsql set plan_cache_mode to force_generic_plan as $$
#variable_conflict use_column
begin
  if is_retry then
    perform from balances
      where bot_id = bot and user_id = any (array(select user_id from json_to_recordset(lines) as line (user_id text)))
      order by user_id for update;
  end if;
  return query
  with arrived as materialized (
    select *, worth_of(event, worth_of_view, worth_of_link, worth_of_task, task_paid) as worth from facts_of_lines(bot, lines)
  ), repeated as (
    insert into receipts as kept (bot_id, event_id, event, user_id, raw_body, signature, duplicates, last_duplicate_at)
    select bot, event_id, event, coalesce(known_user_id, user_id), case when lacks_bytes then raw_body end,
      case when lacks_bytes then decode(signature, 'hex') end, count, case when count > 0 then now() end
    from arrived cross join lateral (
      select coalesce(repeats, 0) + (is_known and not lacks_bytes)::integer as count
    ) as counted
    where raw_body is not null and (is_known or count > 0)
    on conflict (bot_id, event_id) do update set
      raw_body = coalesce(kept.raw_body, excluded.raw_body), signature = coalesce(kept.signature, excluded.signature),
      duplicates = kept.duplicates + excluded.duplicates + num_nonnulls(kept.raw_body, excluded.raw_body) / 2,
      last_duplicate_at = case when excluded.duplicates > 0 or num_nonnulls(kept.raw_body, excluded.raw_body) = 2
        then now() else kept.last_duplicate_at end
  ), judged as materialized (
    select *, reason_unpaid(
      event, is_test, is_foreign, worth, pays_code_once and is_settled, has_earned, is_reversed) as refusal
    from arrived where not is_known
  ), counted as (
    insert into daily_rewards as kept (bot_id, user_id, day, counted)
    select bot, user_id, coalesce(day, (now() at time zone 'UTC')::date), 1 from judged
    where refusal is null and daily_cap is not null and event in ('rewarded', 'direct_link') order by user_id
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
  ), recorded as (
    insert into ledger_entries
      (bot_id, user_id, event, event_id, code, code_entry, reference, start_param, revenue_micros, currency, amount, reason,
        balance_after, raw_body, signature)
    select bot, user_id, event, event_id, code, case when code is not null then entries + 1 end, own_reference, start_param,
      revenue_micros, currency, case when reason is null then worth else 0 end, reason, balance, raw_body, decode(signature, 'hex')
    from priced left join credited using (user_id) order by event_id
    returning coalesce(reason, case when amount < 0 then 'reversed' end) as reason, event_id
  )
  select reason, count(*), array_agg(event_id) from recorded group by reason;
exception when unique_violation then
  raise exception using errcode = 'serialization_failure',
    message = 'another transaction recorded the event, or one of its code';
end $$;
