-- How often VAST tags were requested, and how often they had an ad: a row for each day (UTC), bot, country and campaign, for eight
-- days. Teaches the order of the tags, and is no part of any account.
-- works-with: 0025-alerts
create table source_tries (
  bot_id text not null,
  day date not null,
  -- As in stats_audiences.
  country text not null,
  campaign_id text not null,
  tries bigint not null check (tries >= 0),
  fills bigint not null check (fills between 0 and tries),
  primary key (bot_id, day, country, campaign_id)
);
create index source_tries_by_day on source_tries (day);

-- Bots whose tags are not drawn by weight.
create table source_orders (
  bot_id text primary key references bots,
  mode text not null check (mode in ('earned', 'fixed')),
  -- In the order in which they are requested; empty unless it is fixed.
  campaign_ids text[] not null check (cardinality(campaign_ids) <= 100)
);
