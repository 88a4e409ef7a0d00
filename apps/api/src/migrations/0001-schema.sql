-- The whole schema of the companion API, in the schema that the connection's search_path names, for PostgreSQL 15 and newer.
-- Once a version is released, this file stays as it is, and each change is a further file of this folder.
--
-- Keys of tables that belong to a bot begin with bot_id, so that the tables can be distributed by it. commit_xid() is in
-- packages/postgres: the order of commits, also after a restore.

-- The bots that this API serves beside the one of the environment. A removed bot keeps its row and its ledger, and loses its
-- secrets.
create table bots (
  bot_id text primary key,
  added_at timestamptz not null default now(),
  removed_at timestamptz,
  -- Grows with each change: nodes read the table again when the sum over all rows has changed.
  revision bigint not null default 1,
  -- The tokens that must be usable, as ciphertext with the bot's id authenticated.
  sealed_tokens bytea,
  -- SHA-256 in hex of the accepted keys of its backend, newest first.
  backend_key_hashes text[] not null,
  username text,
  mini_app_name text,
  reward_rewarded integer not null check (reward_rewarded between 0 and 1000000),
  reward_direct_link integer not null check (reward_direct_link between 0 and 1000000),
  daily_cap integer check (daily_cap between 1 and 1000000),
  pay_per_code text not null check (pay_per_code in ('once', 'each')),
  two_field_events text not null check (two_field_events in ('off', 'match')),
  check ((removed_at is null) = (sealed_tokens is not null)),
  check (removed_at is null or backend_key_hashes = '{}')
);

-- A code that this API requested from the ad service. `codes.create` writes it before the code is returned; only an erasure
-- changes it. Its key keeps one row for a code that the ad service returns again.
create table codes (
  bot_id text not null,
  code text not null,
  user_id text not null,
  reference text,
  issued_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (bot_id, code)
);
-- For the look-up of TWO_FIELD_EVENTS=match.
create index codes_by_user on codes (bot_id, user_id, issued_at);

-- One entry of the ledger, append-only: an event with its webhook (record_events), or a spend (`rewards.spend`).
create table ledger_entries (
  bot_id text not null,
  -- Commit order: readers stop before the oldest transaction that is still running.
  xid xid8 not null default commit_xid(),
  entry_id bigint not null generated always as identity,
  user_id text not null,
  recorded_at timestamptz not null default now(),
  -- Negative for a spend; 0 for an event that pays nothing.
  amount bigint not null,
  -- Null if the user has no balance yet.
  balance_after bigint check (balance_after >= 0),
  -- Why an event pays nothing, or the note of a spend.
  reason text,

  event text check (event in ('rewarded', 'direct_link')),
  event_id text,
  code text,
  -- 1 for the first entry of the code, then 2, …
  code_entry integer,
  reference text,
  -- The publisher's own startapp value of the launch.
  start_param text check (length(start_param) between 1 and 512),
  -- What the event is worth to the publisher, where the ad service says so. For its operator: no procedure shows it to a user.
  revenue_micros bigint check (revenue_micros >= 0),
  currency text check (currency ~ '^[A-Z]{3}$'),
  -- The text whose UTF-8 bytes were signed, and the 32 bytes of X-Signature; null if reconciliation fetched the event.
  raw_body text,
  signature bytea,

  idempotency_key text,

  primary key (bot_id, xid, entry_id),
  check (case when event is null then event_id is null and idempotency_key is not null and amount < 0
              else event_id is not null and idempotency_key is null and amount >= 0 end),
  check (event is null or (amount = 0) = (reason is not null)),
  check ((code is null) = (code_entry is null)),
  check ((revenue_micros is null) = (currency is null))
);
-- These indexes begin with the distinguishing column, so that most comparisons end there; behind bot_id, which most entries
-- share, the recording statement costs a tenth more. An event is recorded once, however often and by whatever way it arrives.
create unique index ledger_entries_once_per_event on ledger_entries (event_id, bot_id);
-- Of two concurrent transactions that record events of one code without seeing each other's entry, one fails.
create unique index ledger_entries_by_code on ledger_entries (code, bot_id, code_entry);
-- A spend with a key happens once.
create unique index ledger_entries_once_per_key on ledger_entries (bot_id, user_id, idempotency_key)
  where idempotency_key is not null;
create index ledger_entries_by_user on ledger_entries (user_id, bot_id, xid, entry_id);

-- The ledger stays append-only, except for the erasure of a user: a transaction that declares one may replace what identifies
-- the user in an entry, but nothing that a sum, an order or a cursor depends on.
create function forbid_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and current_setting('intermission.erasing', true) = 'on'
    and to_jsonb(new) - array['user_id', 'reference', 'start_param', 'idempotency_key', 'raw_body', 'signature']
      = to_jsonb(old) - array['user_id', 'reference', 'start_param', 'idempotency_key', 'raw_body', 'signature']
  then
    return new;
  end if;
  raise exception 'the ledger is append-only';
end $$;
create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row execute function forbid_change();

-- A user's balance: the sum of the user's entries, changed in the transaction that appends one. The upper bound is JavaScript's
-- largest safe integer.
create table balances (
  bot_id text not null,
  user_id text not null,
  balance bigint not null check (balance between 0 and 9007199254740991),
  primary key (bot_id, user_id)
);

-- The number of payable events recorded for a user's UTC day, if DAILY_CAP is set; the first DAILY_CAP of them pay.
create table daily_rewards (
  bot_id text not null,
  user_id text not null,
  day date not null,
  counted integer not null check (counted > 0),
  primary key (bot_id, user_id, day)
);

-- Signed webhooks beside the ledger. Either a webhook without an entry, with the reason; its key derives from its bytes or from
-- user, kind and minute, so that repeats stay one row. Or, by the event's id, deliveries of an event after its entry: their
-- number, and the bytes if reconciliation recorded it first.
create table receipts (
  bot_id text not null,
  event_id text not null,
  received_at timestamptz not null default now(),
  event text check (event in ('rewarded', 'direct_link')),
  user_id text,
  raw_body text,
  signature bytea,
  -- Signed by two fields alone, and matches no code.
  unmatched_reason text,
  -- Signed with a token of ours, but not an event of this contract; then nothing else is known of it.
  invalid_reason text,
  duplicates integer not null default 0,
  last_duplicate_at timestamptz,
  primary key (bot_id, event_id),
  check (invalid_reason is not null or (event is not null and user_id is not null))
);
create index receipts_by_time on receipts (bot_id, received_at);

-- The number of webhooks without a valid signature, by hour and reason. Written once a minute, kept for 30 days.
create table refused_webhooks (
  bot_id text not null,
  hour timestamptz not null,
  reason text not null,
  refused bigint not null check (refused > 0),
  last_at timestamptz not null,
  primary key (bot_id, hour, reason)
);

-- How far the ad service's list of events was read; a row for each bot, made at the first start. Earlier events belong to
-- another receiver.
create table reconciliations (
  bot_id text primary key,
  started_at timestamptz not null default now(),
  -- The position before the last page that held an event.
  cursor text,
  -- The last event of that page that was settled. A list that no longer has it there is not the list of the cursor.
  settled_event_id text
);

-- Lines of events with what is stored about each: the event itself, its code, and the earlier entries of its code.
create function ledger_facts(bot text, lines json) returns table (
  event_id text, event text, user_id text, code text, reference text, start_param text, day date, is_test boolean,
  revenue_micros bigint, currency text, raw_body text, signature text, repeats integer,
  own_reference text, known_user_id text, is_known boolean, lacks_bytes boolean,
  entries integer, is_settled boolean, has_earned boolean, is_foreign boolean
) language sql stable as $$
  select line.*, coalesce(line.reference, issued.reference), known.user_id, known.user_id is not null, known.lacks_bytes,
    earlier.entries, earlier.is_settled, earlier.has_earned,
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
      max(entry.user_id) filter (where coalesce(reason, '') not in ('test', 'code-of-another-user')) as owner,
      bool_or(coalesce(reason, '') not in ('test', 'code-of-another-user', 'no-reward')) as is_settled,
      bool_or(entry.event = line.event and coalesce(reason, '') not in ('test', 'code-of-another-user')) as has_earned
    from ledger_entries as entry where entry.bot_id = bot and entry.code = line.code
  ) as earlier
$$;

-- Why an event pays nothing, without the daily cap; null: it pays.
create function why_unpaid(
  is_test boolean, is_foreign boolean, worth bigint, is_code_paid boolean, has_earned boolean
) returns text language sql immutable as $$
  select case
    when is_test then 'test'
    when is_foreign then 'code-of-another-user'
    when worth = 0 then 'no-reward'
    when is_code_paid then 'code-already-paid'
    when has_earned then 'event-already-recorded'
  end
$$;

-- Records events: ledger entry, balance and daily count in one statement, so in one commit. Returns the number of new lines, by
-- the reason why they pay nothing (null: they pay). No event, code or user occurs twice among the lines.
--
-- Decisions about an event depend on the entries of its code, read without a lock, and on its user's rows, locked by `on
-- conflict`. Entries that another transaction adds meanwhile make this one fail with serialization_failure: each entry takes
-- the next number of its code, and an event has one entry. A retry first waits for the transactions that credit the same users,
-- and then sees their rows.
--
-- A function keeps its plan, whatever the session's settings are: planning each time cost 0.3 ms a call. `ledger_facts`, which
-- the plan contains, looks up each line by the whole key of an index, so the plan made while the tables were empty stays good.
create function record_events(
  bot text, lines json, worth_of_view bigint, worth_of_link bigint, pays_code_once boolean, daily_cap integer,
  is_retry boolean
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
    select *, case event when 'rewarded' then worth_of_view else worth_of_link end as worth from ledger_facts(bot, lines)
  ), repeated as (
    insert into receipts as kept
      (bot_id, event_id, event, user_id, raw_body, signature, duplicates, last_duplicate_at)
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
    select *, why_unpaid(is_test, is_foreign, worth, pays_code_once and is_settled, has_earned) as refusal
    from arrived where not is_known
  ), counted as (
    insert into daily_rewards as kept (bot_id, user_id, day, counted)
    select bot, user_id, coalesce(day, (now() at time zone 'UTC')::date), 1 from judged
    where refusal is null and daily_cap is not null order by user_id
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
    returning reason, event_id
  )
  select reason, count(*), array_agg(event_id) from recorded group by reason;
exception when unique_violation then
  raise exception using errcode = 'serialization_failure',
    message = 'another transaction recorded the event, or one of its code';
end $$;
