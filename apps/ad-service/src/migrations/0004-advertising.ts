/** Campaigns as they are sold: prices, caps, pacing, targeting, several creatives; and what counts and adds up. */
export const migration = `
-- Who pays. Named by campaigns; the key of its postbacks is kept as a hash.
create table advertisers (
  name text primary key check (length(name) between 1 and 128),
  postback_key_hash bytea unique,
  created_at timestamptz not null default now()
);
insert into advertisers (name) select distinct advertiser from campaigns;

alter table campaigns
  add column formats text[],
  add column status text not null default 'active' check (status in ('active', 'paused', 'archived')),
  add column priority text not null default 'standard' check (priority in ('sponsorship', 'standard', 'house')),
  add column category text check (category ~ '^[a-z][a-z0-9-]{0,31}$'),
  add column pacing text not null default 'even' check (pacing in ('even', 'asap')),
  add column starts_at timestamptz,
  add column ends_at timestamptz,
  -- Of one completed view, of one counted click: millionths of the deployment's currency.
  add column view_price_micros bigint not null default 0 check (view_price_micros >= 0),
  add column click_price_micros bigint not null default 0 check (click_price_micros >= 0),
  add column total_budget_micros bigint check (total_budget_micros > 0),
  add column daily_budget_micros bigint check (daily_budget_micros > 0),
  add column total_view_cap bigint check (total_view_cap > 0),
  add column daily_view_cap bigint check (daily_view_cap > 0),
  add column total_click_cap bigint check (total_click_cap > 0),
  add column daily_click_cap bigint check (daily_click_cap > 0),
  -- So many views and clicks of one user of a bot, counted over so many seconds back.
  add column user_cap integer check (user_cap > 0),
  add column user_cap_seconds integer check (user_cap_seconds between 60 and 7776000),
  add column targeting jsonb not null default '{}',
  add constraint campaigns_advertiser_fkey foreign key (advertiser) references advertisers on update cascade,
  add check (ends_at > starts_at),
  add check ((user_cap is null) = (user_cap_seconds is null));
update campaigns set
  formats = array[format],
  status = case when is_active then 'active' else 'paused' end,
  view_price_micros = case format when 'rewarded' then price_micros else 0 end,
  click_price_micros = case format when 'direct_link' then price_micros else 0 end;
alter table campaigns
  alter column formats set not null,
  add check (formats <@ array['rewarded', 'direct_link'] and cardinality(formats) between 1 and 2);

-- A file of ours, an address elsewhere, or a VAST tag that is asked for an ad at each opening.
alter table creatives
  add column kind text not null default 'file' check (kind in ('file', 'address', 'vast')),
  -- Of 'address' the video, of 'vast' the tag.
  add column url text,
  add column poster_file_name text,
  alter column sha256 drop not null,
  alter column file_name drop not null,
  alter column media_type drop not null,
  alter column byte_length drop not null,
  alter column duration_ms drop not null,
  alter column width drop not null,
  alter column height drop not null,
  add check (case kind when 'file' then file_name is not null else url is not null end),
  add check (kind = 'vast' or (media_type is not null and duration_ms is not null and width is not null and height is not null));

-- Which creatives a campaign shows, by weight. Label and call to action are the campaign's unless said here.
create table campaign_creatives (
  campaign_id text not null references campaigns,
  creative_id text not null references creatives,
  weight integer not null default 1 check (weight between 1 and 1000000),
  label text check (length(label) between 1 and 128),
  call_to_action text check (length(call_to_action) between 1 and 40),
  is_active boolean not null default true,
  primary key (campaign_id, creative_id)
);
insert into campaign_creatives (campaign_id, creative_id) select campaign_id, creative_id from campaigns where creative_id is not null;

alter table campaigns drop column format, drop column creative_id, drop column is_active, drop column price_micros;

-- What a campaign delivered on a day (UTC): changed by the statement that charges, once per batch, in the order of the ids.
create table campaign_days (
  campaign_id text not null references campaigns,
  day date not null,
  views bigint not null default 0,
  clicks bigint not null default 0,
  spent_micros bigint not null default 0,
  primary key (campaign_id, day)
) with (fillfactor = 50);
insert into campaign_days (campaign_id, day, views, clicks, spent_micros)
  select campaign_id, (occurred_at at time zone 'utc')::date, count(*) filter (where format = 'rewarded'),
    count(*) filter (where format = 'direct_link'), sum(price_micros)
  from charges group by 1, 2;

-- Of a bot's listed testers: free of charge, and out of the statistics.
alter table ad_sessions add column is_test boolean not null default false;
-- Views under way are held against their campaign's limits.
create index ad_sessions_in_flight on ad_sessions (campaign_id, opened_at) where state in ('opened', 'playing', 'watched') and not is_test;

alter table charges
  add column creative_id text,
  add column user_id text,
  add column xid xid8 not null default pg_current_xact_id();
-- For the cap per user: what one saw and followed lately.
create index charges_of_user on charges (bot_id, user_id, occurred_at desc);

alter table bots
  add column category text check (category ~ '^[a-z][a-z0-9-]{0,31}$'),
  add column time_zone text not null default 'UTC',
  add column blocked_categories text[] not null default '{}',
  add column blocked_advertisers text[] not null default '{}',
  -- What becomes of a view that earned but looks wrong.
  add column suspicious_views text not null default 'pay' check (suspicious_views in ('pay', 'hold', 'refuse'));
`;
