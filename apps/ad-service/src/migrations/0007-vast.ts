/** Ads of VAST tags, the calls of their trackers, clicks on calls to action, and conversions. */
export const migration = `
alter table ad_sessions add column is_vast boolean not null default false;

-- What a tag was unwrapped to for a session: apart from it, since each report reads the session.
create table vast_ads (
  bot_id text not null,
  session_id text not null,
  ad jsonb not null,
  primary key (bot_id, session_id),
  -- Offers that are withdrawn and persons who are erased take theirs along.
  foreign key (bot_id, session_id) references ad_sessions on delete cascade
);

-- Each address that an ad wants to be called at, once. A claim moves due_at: until then it belongs to its claimer.
create table tracker_calls (
  call_id bigint generated always as identity primary key,
  bot_id text not null,
  -- Null: an error of a tag, reported before there was a session.
  session_id text,
  event text not null,
  -- Of several addresses of one event.
  position integer not null,
  url text not null,
  user_agent text not null default '',
  attempts integer not null default 0,
  due_at timestamptz not null,
  finished_at timestamptz,
  -- 'unknown': it was sent and not answered, so it may have been counted, and is not sent again.
  outcome text check (outcome in ('answered', 'refused', 'failed', 'unknown')),
  check ((finished_at is null) = (outcome is null))
);
create unique index tracker_calls_once on tracker_calls (bot_id, session_id, event, position);
create index tracker_calls_due on tracker_calls (due_at) where finished_at is null;
create index tracker_calls_finished on tracker_calls (finished_at) where finished_at is not null;

-- The first tap on a session's call to action.
create table ad_clicks (
  bot_id text not null,
  session_id text not null,
  click_id text not null unique,
  user_id text not null,
  campaign_id text not null,
  creative_id text not null,
  occurred_at timestamptz not null,
  primary key (bot_id, session_id)
);
create index ad_clicks_by_time on ad_clicks using brin (occurred_at) with (pages_per_range = 32);

-- A postback names a click by its id alone.
create index clicks_by_id on clicks (click_id) where outcome = 'counted';

-- What advertisers say came of clicks. Append-only.
create table conversions (
  click_id text not null,
  event text not null default '',
  -- The advertiser's own; '' without one: then a click converts once for each event.
  conversion_id text not null default '',
  value_micros bigint check (value_micros >= 0),
  bot_id text not null,
  campaign_id text not null,
  creative_id text,
  occurred_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id(),
  primary key (click_id, event, conversion_id)
);
create index conversions_in_commit_order on conversions (xid);
create index conversions_by_time on conversions using brin (occurred_at) with (pages_per_range = 32);
insert into stats_progress (source) values ('conversions');

create table conversion_refusals (
  day date not null,
  reason text not null,
  count bigint not null,
  primary key (day, reason)
);
`;
