/** Tables that belong to a bot lead their key with bot_id, ready to be distributed by it. Runs on PostgreSQL 15 and newer. */
export const migration = `
-- Every code this API issued, and every other one that an event named. The first event of each kind, and the first that
-- was worth something, are written once and never changed: they decide what the code pays.
create table codes (
  bot_id text not null,
  code text not null,
  user_id text not null,
  reference text,
  issued_at timestamptz,
  expires_at timestamptz,
  rewarded_by text,
  direct_link_by text,
  settled_by text,
  primary key (bot_id, code),
  check ((issued_at is null) = (expires_at is null))
);
-- What TWO_FIELD_EVENTS=match looks through.
create index codes_by_user on codes (bot_id, user_id, issued_at) where issued_at is not null;

-- One row per event that a verified webhook, or the service's own list, brought. Its key is what makes a repeat harmless.
create table receipts (
  bot_id text not null,
  event_id text not null,
  received_at timestamptz not null default now(),
  event text not null check (event in ('rewarded', 'direct_link')),
  user_id text not null,
  -- null where reconciliation fetched the event
  raw_body text,
  signature_header text,
  is_two_field boolean not null default false,
  -- Why it has no line in the ledger.
  unmatched_reason text,
  primary key (bot_id, event_id)
);
create index receipts_by_time on receipts (bot_id, received_at);
create index receipts_two_field on receipts (bot_id, user_id, event, received_at) where is_two_field;

-- How many payable events of a user's UTC day were booked; the first DAILY_CAP of them pay.
create table daily_rewards (
  bot_id text not null,
  user_id text not null,
  day date not null,
  counted integer not null check (counted > 0),
  primary key (bot_id, user_id, day)
);

-- Equals the sum of the user's entries: both change in one transaction. The upper bound is JavaScript's safe integer.
create table balances (
  bot_id text not null,
  user_id text not null,
  balance bigint not null check (balance between 0 and 9007199254740991),
  primary key (bot_id, user_id)
);

create table ledger_entries (
  bot_id text not null,
  -- Commit order: readers stop before the oldest transaction that is still running.
  xid xid8 not null default pg_current_xact_id(),
  entry_id bigint not null generated always as identity,
  user_id text not null,
  event text check (event in ('rewarded', 'direct_link')),
  code text,
  reference text,
  event_id text,
  amount bigint not null,
  reason text,
  idempotency_key text,
  balance_after bigint check (balance_after >= 0),
  booked_at timestamptz not null default now(),
  primary key (bot_id, xid, entry_id),
  -- Either an event, which never takes, or a spend, which always does.
  check (case when event is null then event_id is null and idempotency_key is not null and amount < 0
              else event_id is not null and idempotency_key is null and amount >= 0 end),
  check (event is null or (amount = 0) = (reason is not null))
);
create unique index ledger_entries_once_per_event on ledger_entries (bot_id, event_id) where event_id is not null;
create unique index ledger_entries_once_per_key on ledger_entries (bot_id, user_id, idempotency_key)
  where idempotency_key is not null;
create index ledger_entries_by_user on ledger_entries (bot_id, user_id, xid, entry_id);
create index ledger_entries_by_code on ledger_entries (bot_id, code) where code is not null;

create function forbid_change() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only';
end $$;
create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row execute function forbid_change();

-- How far the ad service's list of events was read. Events from before the first start are another receiver's.
create table reconciliations (
  bot_id text primary key,
  started_at timestamptz not null default now(),
  cursor text
);
`;
