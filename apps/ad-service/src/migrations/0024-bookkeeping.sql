-- Who the parties of statements and payouts are, payouts in one step with their files for the bank, and what statements list.
-- works-with: 0016-joins

-- By the account: 'operator', 'advertiser:…' or 'publisher:…'. The details are those of `parties.ts` in packages/operator-api.
create table money_parties (
  account text primary key check (account ~ '^(operator|advertiser:adv_[0-9A-Za-z]+|publisher:[1-9][0-9]*)$'),
  details jsonb not null check (jsonb_typeof(details) = 'object')
);

-- Payouts of all publishers of a month, which were recorded in one transaction. Append-only.
create table payout_runs (
  run_id text primary key check (run_id ~ '^run_[0-9A-Za-z]{1,60}$'),
  -- The caller's: a repeated request records nothing again.
  idempotency_key text unique check (length(idempotency_key) between 16 and 64),
  month date not null check (extract(day from month) = 1),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reference text not null check (length(reference) between 1 and 128),
  -- The operator's details when it was recorded.
  debtor jsonb not null check (jsonb_typeof(debtor) = 'object'),
  made_at timestamptz not null
);
create index payout_runs_by_time on payout_runs (made_at, run_id);
create trigger payout_runs_stay before update or delete or truncate on payout_runs execute function refuse_change();

-- With the name and account that the publisher had then.
create table payout_run_payments (
  run_id text not null references payout_runs,
  bot_id text not null references bots,
  transaction_id text not null unique references money_transactions,
  amount_micros bigint not null check (amount_micros > 0),
  payee_name text not null,
  iban text not null,
  primary key (run_id, bot_id)
);
create trigger payout_run_payments_stay before update or delete or truncate on payout_run_payments
  execute function refuse_change();

-- What charges and refunds consist of: how many views or clicks at which price, of an advertiser's campaign; of a publisher at
-- which share, without the campaign. Written with their entries, with which they add up. Append-only.
create table money_items (
  transaction_id text not null references money_transactions,
  account text not null,
  campaign_id text,
  event text not null,
  unit_micros bigint not null check (unit_micros > 0),
  quantity bigint not null check (quantity > 0)
);
create index money_items_of_entries on money_items (transaction_id, account);
create trigger money_items_stay before update or delete or truncate on money_items execute function refuse_change();

-- Both parties as they were when it was issued, and its items; of earlier statements neither.
alter table money_statements
  add column operator jsonb check (jsonb_typeof(operator) = 'object'),
  add column party jsonb check (jsonb_typeof(party) = 'object'),
  add column items jsonb not null default '[]' check (jsonb_typeof(items) = 'array');
