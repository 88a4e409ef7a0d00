/** Tables that belong to a bot lead their key with bot_id, ready to be distributed by it. Runs on PostgreSQL 15 and newer. */
export const migration = `
create table bots (
  bot_id text primary key check (bot_id ~ '^[1-9][0-9]{0,19}$'),
  code_prefix text not null unique check (length(code_prefix) = 4),
  name text not null check (length(name) between 1 and 128),
  username text,
  is_suspended boolean not null default false,
  webhook_url text,
  publisher_api_url text,
  delivery_mode text not null default 'at-least-once' check (delivery_mode in ('at-least-once', 'at-most-once')),
  code_lifetime_seconds integer not null default 3600 check (code_lifetime_seconds between 60 and 86400),
  cooldown_seconds integer not null default 60 check (cooldown_seconds between 0 and 604800),
  daily_cap integer not null default 20 check (daily_cap between 1 and 10000),
  testers text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table bot_tokens (
  bot_id text not null references bots,
  token_id text not null,
  lookup_hash bytea not null unique,
  ciphertext bytea not null,
  state text not null check (state in ('next', 'active', 'retiring', 'revoked')),
  created_at timestamptz not null default now(),
  activated_at timestamptz,
  revoke_at timestamptz,
  revoked_at timestamptz,
  primary key (bot_id, token_id)
);
create unique index bot_tokens_one_active on bot_tokens (bot_id) where state = 'active';
create unique index bot_tokens_one_next on bot_tokens (bot_id) where state = 'next';

create table codes (
  bot_id text not null references bots,
  code text not null,
  user_id text not null,
  reference text not null default '',
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (bot_id, code)
);

-- One row per (bot, user, reference) decides which code is given out, so that parallel requests get the same one.
create table current_codes (
  bot_id text not null references bots,
  user_id text not null,
  reference text not null default '',
  code text not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  has_earned boolean not null default false,
  primary key (bot_id, user_id, reference)
);

create table creatives (
  creative_id text primary key,
  sha256 text not null,
  file_name text not null,
  media_type text not null,
  byte_length bigint not null check (byte_length > 0),
  duration_ms integer not null check (duration_ms > 0),
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  created_at timestamptz not null default now()
);

create table campaigns (
  campaign_id text primary key,
  name text not null check (length(name) between 1 and 128),
  advertiser text not null check (length(advertiser) between 1 and 128),
  format text not null check (format in ('rewarded', 'direct_link')),
  creative_id text references creatives,
  landing_url text,
  call_to_action text,
  weight integer not null default 1 check (weight between 1 and 1000000),
  price_micros bigint not null default 0 check (price_micros >= 0),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (case format when 'rewarded' then creative_id is not null else landing_url is not null end)
);

-- What a bot's user earned lately: the cooldown and the daily cap are decided on this row.
create table viewers (
  bot_id text not null references bots,
  user_id text not null,
  day date not null,
  earned_today integer not null,
  last_earned_at timestamptz not null,
  primary key (bot_id, user_id)
);

create table ad_sessions (
  bot_id text not null references bots,
  session_id text not null,
  code text not null,
  user_id text not null,
  campaign_id text not null references campaigns,
  creative_id text not null references creatives,
  state text not null check (state in ('opened', 'playing', 'watched', 'rewarded')),
  token_hash bytea not null,
  openings integer not null default 1,
  first_sequence integer not null default 0,
  duration_ms integer not null check (duration_ms > 0),
  accepted_ms integer not null default 0 check (accepted_ms >= 0),
  progress jsonb not null default '{"covered":[],"sequences":[],"refusals":{}}',
  opened_at timestamptz not null,
  started_at timestamptz,
  last_report_at timestamptz,
  watched_at timestamptz,
  close_requested_at timestamptz,
  closed_at timestamptz,
  close_reason text check (close_reason in ('tap', 'page-hidden', 'heartbeat-lost', 'deadline', 'reopened')),
  deadline timestamptz not null,
  primary key (bot_id, session_id),
  unique (bot_id, code)
);
create index ad_sessions_to_sweep on ad_sessions (last_report_at) where state = 'watched';
create index ad_sessions_of_user on ad_sessions (bot_id, user_id, opened_at desc);

create table clicks (
  bot_id text not null references bots,
  click_id text not null,
  code text not null,
  user_id text not null,
  campaign_id text,
  outcome text not null,
  user_agent text not null default '',
  address_hash bytea,
  occurred_at timestamptz not null,
  primary key (bot_id, click_id)
);
create index clicks_of_code on clicks (bot_id, code);
create index clicks_of_address on clicks (address_hash, occurred_at desc) where outcome = 'counted';

-- What campaigns owe. Append-only; totals are derived from it.
create table charges (
  charge_id text primary key,
  campaign_id text not null references campaigns,
  bot_id text not null references bots,
  format text not null check (format in ('rewarded', 'direct_link')),
  code text not null,
  price_micros bigint not null check (price_micros >= 0),
  occurred_at timestamptz not null,
  unique (bot_id, code, format)
);

-- What was earned. The unique key is the promise that a code earns each event at most once, ever.
create table events (
  bot_id text not null references bots,
  event_id text not null,
  event text not null check (event in ('rewarded', 'direct_link')),
  user_id text not null,
  code text,
  reference text,
  is_test boolean not null default false,
  occurred_at timestamptz not null,
  body text not null check (octet_length(body) <= 20480),
  xid xid8 not null default pg_current_xact_id(),
  primary key (bot_id, event_id),
  unique (bot_id, code, event)
);
create index events_in_commit_order on events (bot_id, xid, event_id);

create table deliveries (
  bot_id text not null,
  event_id text not null,
  state text not null check (state in ('waiting', 'sending', 'delivered', 'failed', 'held', 'unknown')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_until timestamptz,
  fence bigint not null default 0,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (bot_id, event_id),
  foreign key (bot_id, event_id) references events
);
-- By bot, so that one endpoint's backlog is never read for the sake of another's.
create index deliveries_due on deliveries (bot_id, due_at) where state = 'waiting';
create index deliveries_leased on deliveries (lease_until) where state = 'sending';
create index deliveries_held on deliveries (bot_id) where state = 'held';

create table delivery_attempts (
  bot_id text not null,
  event_id text not null,
  attempt integer not null,
  started_at timestamptz not null,
  url text not null,
  address text,
  status integer,
  error_class text,
  connect_ms integer,
  first_byte_ms integer,
  total_ms integer,
  response_text text,
  next_at timestamptz,
  primary key (bot_id, event_id, attempt)
);
create index delivery_attempts_by_time on delivery_attempts (started_at);
`;
