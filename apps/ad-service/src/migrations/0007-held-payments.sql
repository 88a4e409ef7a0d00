-- Reports of payment providers that credit nothing before a person decides: the payment may be one that a person has recorded
-- (`reference-known`), or the provider has reported it before with other values (`reported-otherwise`).
create table held_payments (
  held_id text primary key check (held_id ~ '^hld_[0-9A-Za-z]{1,60}$'),
  provider text not null check (length(provider) between 1 and 40),
  payment_id text not null check (length(payment_id) between 1 and 128),
  reason text not null check (reason in ('reference-known', 'reported-otherwise')),
  -- The transaction that it may be. Null: another report that is held.
  known_transaction_id text references money_transactions,
  -- As reported: it may name no advertiser of this service.
  advertiser_id text not null,
  amount_micros bigint not null check (amount_micros > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reference text check (length(reference) between 1 and 128),
  reported_at timestamptz not null,
  state text not null default 'open' check (state in ('open', 'credited', 'dismissed')),
  decided_at timestamptz,
  check ((state = 'open') = (decided_at is null)),
  check (state <> 'credited' or reason = 'reference-known'),
  unique (provider, payment_id, advertiser_id, amount_micros, currency)
);
create index held_payments_open on held_payments (reported_at, held_id) where state = 'open';
