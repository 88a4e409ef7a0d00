-- works-with: 0016-joins
-- What a buyer's bid costs it for one impression; null: a view of another ad has its campaign's price at the end.
alter table views add column price_micros bigint;

-- Of a buyer's campaign: the impressions that it owes, and what for. Views and spent_micros are those that were completed.
alter table campaign_days
  add column shown bigint not null default 0,
  add column shown_micros bigint not null default 0;

-- The first picture of a bought ad, from which on its buyer owes the price: once for each view, in the transaction that stores the
-- start. Append-only.
create table bought_impressions (
  bot_id text not null,
  view_id text not null,
  opened_at timestamptz not null,
  campaign_id text not null,
  price_micros bigint not null check (price_micros >= 0),
  shown_at timestamptz not null,
  xid xid8 not null default commit_xid(),
  primary key (view_id, bot_id, opened_at)
) partition by range (opened_at);
create index bought_impressions_in_commit_order on bought_impressions (xid);
insert into money_progress (source) values ('impressions');

-- What each source of an ad said to an opening for which buyers were requested, and what became of it. Append-only.
create table opening_offers (
  bot_id text not null,
  request_id text not null,
  -- 'own', or the id of a buyer.
  source text not null,
  outcome text not null,
  cpm_micros bigint,
  took_ms integer not null,
  occurred_at timestamptz not null
) partition by range (occurred_at);
create index opening_offers_of_source on opening_offers (source, occurred_at);
create index opening_offers_of_request on opening_offers (request_id, bot_id);
