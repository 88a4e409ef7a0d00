-- The tables of the ad service, for PostgreSQL 15 and newer. The migrations beside it hold the functions. Once a version is
-- released, its migrations stay as they are, and each change is a further file of this folder.
--
-- Tables that belong to a bot have bot_id in their key: logical replication filters changes of rows by the columns of the key
-- alone, so that a bot's rows can be moved to another deployment (docs/scale.md). It is not the first column, unless a query
-- reads all rows of a bot: most rows have the same bot, and a comparison of keys should end at the first column.
--
-- Foreign keys are omitted where the writing statement has just read or made the parent, and parents are never deleted: each
-- would cost a look-up and a lock per row, and could never refuse one.
--
-- Facts are partitioned by week, and a week that is no longer kept is dropped (docs/decisions/stores.md). Nodes make the
-- partitions (retention/keep-partitions.ts): there is none of all other weeks, since it would have to be searched for rows of
-- each new week.

-- A publisher's bot and its settings. Bots are never deleted, but those of the sample.
create table bots (
  bot_id text primary key check (bot_id ~ '^[1-9][0-9]{0,19}$'),
  -- The prefix of the bot's codes: it identifies the code's bot.
  code_prefix text not null unique check (length(code_prefix) = 4),
  name text not null check (length(name) between 1 and 128),
  username text,
  is_suspended boolean not null default false,
  publisher_api_url text,
  delivery_mode text not null default 'at-least-once' check (delivery_mode in ('at-least-once', 'at-most-once')),
  code_lifetime_seconds integer not null default 3600 check (code_lifetime_seconds between 60 and 86400),
  cooldown_seconds integer not null default 60 check (cooldown_seconds between 0 and 604800),
  daily_cap integer not null default 20 check (daily_cap between 1 and 10000),
  -- Users for whom everything runs in test mode: free of charge, and excluded from the statistics.
  testers text[] not null default '{}',
  category text check (category ~ '^[a-z][a-z0-9-]{0,31}$'),
  time_zone text not null default 'UTC',
  blocked_categories text[] not null default '{}',
  blocked_advertisers text[] not null default '{}',
  -- What happens to a view or a click that earned but looks suspicious.
  suspicious_views text not null default 'pay' check (suspicious_views in ('pay', 'hold', 'refuse')),
  suspicious_clicks text not null default 'hold-farms'
    check (suspicious_clicks in ('pay', 'hold-farms', 'hold', 'refuse')),
  -- What a code earns: one event, a view or a click, whichever comes first; or one of each.
  pay_per_code text not null default 'once' check (pay_per_code in ('once', 'each')),
  -- What the mini-app tells its users that they get; `reward_unit` is words by language and plural category. The publisher pays.
  reward_per_view integer check (reward_per_view > 0),
  reward_per_click integer check (reward_per_click > 0),
  reward_unit jsonb check (jsonb_typeof(reward_unit) = 'object'),
  -- The ad starts without the mini-app's offer; the screen of a credited reward closes itself.
  skip_offer boolean not null default false,
  close_when_credited boolean not null default false,
  -- Webhooks and feed say what each event is worth to the publisher.
  include_revenue boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- API tokens of bots, which also sign webhooks: a hash for look-ups, and their ciphertext.
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
  -- Of a request that it authenticated, to the minute; null: none yet.
  last_used_at timestamptz,
  primary key (bot_id, token_id)
);
create unique index bot_tokens_one_active on bot_tokens (bot_id) where state = 'active';
create unique index bot_tokens_one_next on bot_tokens (bot_id) where state = 'next';

-- Every code that was issued, by the week of its issue, which its first letters tell. Append-only.
create table codes (
  bot_id text not null,
  code text collate "C" not null,
  user_id text not null,
  -- The publisher's own key; '' if none.
  reference text not null default '',
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (code, bot_id)
) partition by range (code);

-- The latest code of each (bot, user, reference). One upsert of this row decides which code a request is given, so that
-- parallel requests get the same one.
create table current_codes (
  bot_id text not null,
  user_id text not null,
  reference text not null default '',
  code text collate "C" not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  -- Its view or click looked suspicious and was held or refused: the next request gets another code.
  is_withheld boolean not null default false,
  primary key (user_id, bot_id, reference)
);

-- The currency of all amounts in this store: one row, made by the first start.
create table deployment (
  is_only boolean primary key default true check (is_only),
  currency text not null check (currency ~ '^[A-Z]{3}$')
);

-- The servers that run on this store. Each reports regularly, and leaves when it is stopped.
create table nodes (
  node_id text primary key,
  name text not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

-- Sample traffic for trying the console: one row while there is some. It consists of these bots and advertisers, and of
-- everything that refers to them.
create table sample (
  is_only boolean primary key default true check (is_only),
  state text not null check (state in ('adding', 'added', 'removing')),
  bot_ids text[] not null,
  advertiser_ids text[] not null,
  creative_ids text[] not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  -- Traffic before this moment is written: one day (UTC) in each transaction.
  written_until timestamptz not null
);

-- Advertisers, with an id that stays when the name changes. The key of their postbacks is kept as a hash.
create table advertisers (
  advertiser_id text primary key check (advertiser_id ~ '^adv_[0-9A-Za-z]{1,60}$'),
  name text not null check (length(name) between 1 and 128),
  -- In lower case, with single blanks: names that differ only in case or blanks are the same advertiser.
  name_key text not null unique,
  -- The campaigns of an archived advertiser do not run.
  state text not null default 'active' check (state in ('active', 'archived')),
  -- Prepaid: nothing is shown beyond what was paid in, a credit of 0. On credit: up to the limit; null: without one.
  billing text not null default 'credit' check (billing in ('prepaid', 'credit')),
  credit_limit_micros bigint check (credit_limit_micros >= 0),
  check (billing = 'credit' or credit_limit_micros = 0),
  postback_key_hash bytea unique,
  created_at timestamptz not null default now()
);

-- Creatives: a file of ours, an address elsewhere, or a VAST tag that is queried for an ad at each opening.
create table creatives (
  creative_id text primary key,
  -- For the operator; at first that of its file.
  name text check (length(name) between 1 and 128),
  kind text not null default 'file' check (kind in ('file', 'address', 'vast')),
  -- The video if kind is 'address', the tag if it is 'vast'.
  url text,
  sha256 text,
  file_name text,
  poster_file_name text,
  media_type text,
  byte_length bigint check (byte_length > 0),
  duration_ms integer check (duration_ms > 0),
  width integer check (width > 0),
  height integer check (height > 0),
  -- How many frames begin in each second of the video; null if unknown.
  frames_by_second smallint[],
  -- Lighter files of the video, the heaviest first, and its captions by language: arrays of `Rendition` and `Captions`
  -- (creatives.ts).
  renditions jsonb not null default '[]' check (jsonb_typeof(renditions) = 'array'),
  captions jsonb not null default '[]' check (jsonb_typeof(captions) = 'array'),
  -- Text that a law requires beside the ad, such as a registration number.
  legal_line text check (length(legal_line) between 1 and 256),
  -- Whose it is; null: the operator's.
  advertiser_id text references advertisers,
  -- What an advertiser uploads or changes is not shown before it is approved; a draft was not submitted for it yet.
  review text not null default 'approved' check (review in ('draft', 'waiting', 'approved', 'refused')),
  review_reason text check (length(review_reason) between 1 and 500),
  reviewed_at timestamptz,
  submitted_at timestamptz not null default now(),
  -- Incremented by each change of what viewers see: a decision is made about what the reviewer saw.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  check ((review = 'refused') = (review_reason is not null)),
  check (case kind when 'file' then file_name is not null else url is not null end),
  check (kind = 'vast' or (media_type is not null and duration_ms is not null and width is not null and height is not null))
);

create index creatives_waiting on creatives (submitted_at, creative_id) where review = 'waiting';
create index creatives_unapproved on creatives (creative_id) where review <> 'approved';

-- What an advertiser buys: prices, caps, pacing, targeting. Campaigns are never deleted, but those of the sample.
create table campaigns (
  campaign_id text primary key,
  name text not null check (length(name) between 1 and 128),
  advertiser_id text not null references advertisers,
  formats text[] not null check (formats <@ array['rewarded', 'direct_link'] and cardinality(formats) between 1 and 2),
  status text not null default 'active' check (status in ('active', 'paused', 'archived')),
  -- What the operator has paused, its advertiser cannot resume.
  paused_by text check (paused_by in ('operator', 'advertiser')),
  priority text not null default 'standard' check (priority in ('sponsorship', 'standard', 'house')),
  category text check (category ~ '^[a-z][a-z0-9-]{0,31}$'),
  pacing text not null default 'even' check (pacing in ('even', 'asap')),
  starts_at timestamptz,
  ends_at timestamptz,
  landing_url text,
  call_to_action text,
  weight integer not null default 1 check (weight between 1 and 1000000),
  -- Price of one completed view and of one counted click, in millionths of the deployment's currency.
  view_price_micros bigint not null default 0 check (view_price_micros >= 0),
  click_price_micros bigint not null default 0 check (click_price_micros >= 0),
  total_budget_micros bigint check (total_budget_micros > 0),
  daily_budget_micros bigint check (daily_budget_micros > 0),
  total_view_cap bigint check (total_view_cap > 0),
  daily_view_cap bigint check (daily_view_cap > 0),
  total_click_cap bigint check (total_click_cap > 0),
  daily_click_cap bigint check (daily_click_cap > 0),
  -- At most user_cap views and clicks of one user of a bot within a sliding window of this many seconds.
  user_cap integer check (user_cap > 0),
  user_cap_seconds integer check (user_cap_seconds between 60 and 7776000),
  targeting jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (ends_at > starts_at),
  check ((status = 'paused') = (paused_by is not null)),
  check ((user_cap is null) = (user_cap_seconds is null))
);
create index campaigns_of_advertiser on campaigns (advertiser_id);

-- The creatives of a campaign, by weight. Label and call to action default to the campaign's.
create table campaign_creatives (
  campaign_id text not null references campaigns,
  creative_id text not null references creatives,
  weight integer not null default 1 check (weight between 1 and 1000000),
  label text check (length(label) between 1 and 128),
  call_to_action text check (length(call_to_action) between 1 and 40),
  is_active boolean not null default true,
  primary key (campaign_id, creative_id)
);

-- What a campaign delivered on a day (UTC): the sum of its priced events without the refunded ones. The statement that makes
-- the events changes it, once per batch, in the order of the ids.
create table campaign_days (
  campaign_id text not null references campaigns,
  day date not null,
  views bigint not null default 0,
  clicks bigint not null default 0,
  spent_micros bigint not null default 0,
  primary key (campaign_id, day)
) with (fillfactor = 50);

-- The first version of a viewer's row. It is random: if a row is removed and made anew, a caller that has read the old one does not
-- mistake the new one for it. Its successors stay exact in JavaScript.
create function first_decision() returns bigint language sql volatile
return 1 + floor(random() * 4503599627370495)::bigint;

-- A bot's user, from the first opening or click on: without this row, a user has begun no view and earned nothing that a limit
-- still counts. Rows of idle users are removed (retention/remove-idle.ts). Cooldown, daily cap and the clock of views are read
-- from this row without a lock; what was decided is written only if the row is still the same, for views and clicks alike.
create table viewers (
  bot_id text not null,
  user_id text not null,
  -- The day (UTC) that earned_today counts.
  day date not null,
  earned_today integer not null,
  last_earned_at timestamptz,
  -- Real time is credited to one of the viewer's views at a time: the one that holds the viewer's clock. That view stores the
  -- credited time (views.credited_until); this row stores it when no view holds the clock.
  clock_view_id text,
  credited_until timestamptz,
  -- How often an ad was offered to the viewer, a view began, or the viewer earned. Compare-and-set on it keeps two concurrent
  -- decisions from passing the limits together.
  decisions bigint not null default first_decision() check (decisions > 0),
  primary key (user_id, bot_id)
) with (fillfactor = 50);

-- The letters that begin the codes of a moment's week: `codeWeekAt` of packages/ad-core/src/code.ts.
create function code_week_at(moment timestamptz) returns text language sql stable parallel safe
return (
  select substr(alphabet, week / 56 + 1, 1) || substr(alphabet, week % 56 + 1, 1)
  from (values (
    '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz',
    least(greatest(floor((extract(epoch from moment) - 1704067200) / 604800), 0), 3135)::integer
  )) as weeks (alphabet, week)
);

-- The letters in a view's id that begin its code. The codes of that week are from them up to, and not including, them and a '~'.
create function week_of_view(view_id text) returns text language sql immutable parallel safe
return left(split_part(view_id, '-', 2), 2);

-- A view of an ad: one for each code, by the week of the code, which may be replaced by one of the same week. The columns that
-- reports change are at the end and in no index, so that updates stay in their page (HOT) and their WAL records are short.
create table views (
  bot_id text not null,
  -- Begins with the bot's id, and behind it the first letters of the code.
  view_id text not null,
  code text collate "C" not null,
  user_id text not null,
  -- The publisher's own key of the code; '' if none.
  reference text not null default '',
  -- The publisher's own startapp value of the launch: of the latest that had one, until the view was watched.
  start_param text check (length(start_param) between 1 and 512),
  campaign_id text not null,
  creative_id text not null,
  is_vast boolean not null default false,
  -- Whether the user is one of the bot's testers: free of charge, and excluded from the statistics.
  is_test boolean not null default false,
  -- The viewer's country, platform, language and Premium, in bounded kinds (audience.ts), at the first opening.
  audience text not null default '',
  duration_ms integer not null check (duration_ms > 0),
  opened_at timestamptz not null,
  deadline timestamptz not null,
  -- Creatives that the code was opened with before and that could not be played.
  failed_creatives text[] not null default '{}',
  -- SHA-256 of the token of the latest opening.
  token_hash bytea not null,
  openings integer not null default 1,
  first_sequence integer not null default 0,
  -- The player's latest report of a video that it gave up, and its time.
  fault text check (fault in ('not-found', 'timeout', 'unsupported', 'not-displayed', 'too-short', 'other')),
  fault_at timestamptz,
  suspicions text[] not null default '{}',
  decided_at timestamptz,
  -- Incremented by each change: a report is stored by compare-and-set.
  version integer not null default 0,
  -- 'held' and 'refused': watched and closed, but suspicious, or too early for cooldown or cap.
  state text not null check (state in ('opened', 'playing', 'watched', 'rewarded', 'held', 'refused')),
  accepted_ms integer not null default 0 check (accepted_ms >= 0),
  -- Real time that was credited to this view, and the moment up to which it, or a previous view with the viewer's clock, was
  -- credited.
  clock_ms integer not null default 0 check (clock_ms >= 0),
  credited_until timestamptz,
  -- Accepted ranges of the video in milliseconds, and settled sequence numbers: from, to, from, to …
  covered integer[] not null default '{}',
  sequences integer[] not null default '{}',
  -- Signals in the reports beyond the clock: the numbers of viewing-signals.ts.
  signals integer[],
  -- The number of reports that earned nothing, by reason.
  refusals jsonb,
  started_at timestamptz,
  last_report_at timestamptz,
  watched_at timestamptz,
  close_requested_at timestamptz,
  closed_at timestamptz,
  close_reason text check (close_reason in ('tap', 'page-hidden', 'heartbeat-lost', 'deadline', 'reopened')),
  -- Ranges that were claimed too early and that the clock will allow soon; they are settled without another call.
  pending_reports jsonb,
  -- Its row in views_due.
  due_at timestamptz,
  primary key (view_id, bot_id, code),
  unique (code, bot_id)
) partition by range (code);
create index views_of_user on views (user_id, bot_id, opened_at desc);
-- Views in progress count against their campaign's limits.
create index views_of_campaign on views (campaign_id, opened_at) where not is_test;
create index views_suspicious on views (opened_at desc, view_id) where suspicions <> '{}';

-- Views that the sweeper must check, and when: watched and not closed, or closed and waiting for the clock or the cooldown.
-- Kept apart from the views, whose updates would otherwise touch an index.
create table views_due (
  due_at timestamptz not null,
  bot_id text not null,
  view_id text not null,
  primary key (due_at, view_id, bot_id)
);

-- Everything earned: the view or click of a code, and what its campaign owes for it. Also test events, which cost nothing.
-- Append-only; only the erasure of a user and the end of retention blank what identifies a person. The unique key guarantees
-- that a code earns each event at most once.
create table events (
  -- 'evt_' and a UUIDv7. A click's click id is the same UUID after 'clk_'.
  event_id text collate "C" not null,
  bot_id text not null,
  event text not null check (event in ('rewarded', 'direct_link')),
  user_id text not null,
  -- Null for test events that were requested.
  code text collate "C",
  reference text,
  start_param text,
  is_test boolean not null default false,
  campaign_id text,
  creative_id text,
  -- What the campaign owes, in millionths of the currency; null: nothing was sold.
  price_micros bigint check (price_micros >= 0),
  -- The publisher's share of it, by the percentage at that time.
  revenue_micros bigint check (revenue_micros between 0 and price_micros),
  audience text not null default '',
  occurred_at timestamptz not null,
  -- Why a click that was paid looks suspicious, and its visitor, for the operator's review; null for all other events.
  -- The day is part of the hashes, so those of two days cannot be linked to one address.
  suspicions text[] check (suspicions <@ array['many-users-of-one-address', 'crowded-network',
    'many-users-of-one-agent', 'mostly-taps', 'right-after-issue', 'address-changed', 'tap-unconfirmed']),
  user_agent text,
  address_hash bytea,
  network_hash bytea,
  is_erased boolean not null default false,
  -- A held click that was paid later: its id is of the click's time, and occurred_at is when it was released.
  is_released boolean not null default false,
  xid xid8 not null default commit_xid(),
  -- A click is looked up by its id alone.
  primary key (event_id, bot_id),
  unique (code, bot_id, event),
  check ((price_micros is null) = (revenue_micros is null))
);
create index events_in_commit_order on events (bot_id, xid);
-- For the cap per user: a user's recent views and clicks.
create index events_of_user on events (user_id, bot_id, occurred_at desc);
-- For the statistics of references: by day, since a prefix may be of all references.
create index events_of_references on events (bot_id, ((occurred_at at time zone 'utc')::date), reference collate "C")
  where reference is not null;
create index events_released on events (bot_id, occurred_at) where is_released;
create index events_suspicious on events (occurred_at desc, event_id) where suspicions is not null;

-- What is sent of an event: written by the statement that makes it, and kept as long as its delivery.
create table event_bodies (
  event_id text collate "C" not null,
  bot_id text not null,
  -- The text that is signed and sent, the same on each attempt.
  body text not null check (octet_length(body) <= 20480),
  -- The trace of the request that earned it (W3C Trace Context), which its deliveries continue; null where nothing is traced.
  traceparent text,
  primary key (event_id, bot_id)
) partition by range (event_id);

-- Events whose price was refunded, each in full and once. Append-only.
create table refunds (
  event_id text collate "C" not null,
  campaign_id text not null,
  creative_id text,
  bot_id text not null,
  event text not null check (event in ('rewarded', 'direct_link')),
  price_micros bigint not null check (price_micros >= 0),
  revenue_micros bigint not null check (revenue_micros between 0 and price_micros),
  audience text not null default '',
  charged_at timestamptz not null,
  occurred_at timestamptz not null,
  xid xid8 not null default commit_xid(),
  primary key (event_id, bot_id)
);
create index refunds_in_commit_order on refunds (xid);

-- The state of an event's webhook. Kept apart from the event, since it changes.
create table deliveries (
  bot_id text not null,
  event_id text collate "C" not null,
  state text not null check (state in ('waiting', 'sending', 'delivered', 'failed', 'held', 'unknown')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_until timestamptz,
  -- Incremented by each claim; only the claim with the newest number may finish.
  fence bigint not null default 0,
  -- The claim that was recorded last: each is recorded once, however often an uncertain commit is repeated.
  recorded_fence bigint not null default 0,
  -- Failures that count towards the schedule; replays and our own faults do not count.
  schedule_step integer not null default 0,
  -- Set during a replay: the state to which the delivery returns if the replay fails.
  resume_state text check (resume_state in ('waiting', 'delivered', 'unknown')),
  resume_due_at timestamptz,
  -- Part of a bulk replay: sent after new events.
  is_bulk boolean not null default false,
  -- Its event's: so the webhooks that failed are counted without reading their events.
  is_test boolean not null default false,
  end_reason text check (end_reason in ('attempts-used-up', 'at-most-once', 'held-too-long', 'test', 'erased')),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (bot_id, event_id)
) partition by range (event_id);
-- By bot, so that claims for one endpoint never read another's backlog. Deduplication is off: a deduplicated entry stays until
-- all its rows are gone, and each claim would scan past the rows claimed before.
create index deliveries_due on deliveries (bot_id, is_bulk, due_at) with (deduplicate_items = off) where state = 'waiting';
create index deliveries_leased on deliveries (lease_until) where state = 'sending';
create index deliveries_held on deliveries (bot_id) where state = 'held';
create index deliveries_undelivered on deliveries (bot_id, event_id) where state in ('failed', 'unknown');

-- The log of attempts.
create table delivery_attempts (
  bot_id text not null,
  event_id text collate "C" not null,
  attempt integer not null,
  started_at timestamptz not null,
  url text not null,
  address text,
  status integer,
  error_class text,
  dns_ms integer,
  tcp_ms integer,
  tls_ms integer,
  first_byte_ms integer,
  total_ms integer,
  response_text text,
  next_at timestamptz,
  is_replay boolean not null default false,
  -- An attempt that is recorded again has the same start.
  primary key (event_id, bot_id, attempt, started_at)
) partition by range (started_at);

-- One row for each bot that has a webhook address, with its health. Written with each batch of attempts; the fill factor leaves
-- space for updates in place.
create table endpoints (
  bot_id text primary key references bots,
  url text not null,
  state text not null check (state in ('pending', 'active', 'disabled')),
  state_since timestamptz not null default now(),
  disabled_reason text check (disabled_reason in ('operator', 'gone', 'failing')),
  max_in_flight integer not null default 4 check (max_in_flight between 1 and 40),
  -- Claims that were recorded, released or taken back: the number in flight is `endpoint_claims.claimed` less these.
  ended bigint not null default 0,
  -- Increased by each statement that changes the health or the address: a health is written only over the version it was
  -- decided from.
  version bigint not null default 0,
  backoff_until timestamptz not null default '-infinity',

  breaker text not null default 'closed' check (breaker in ('closed', 'open', 'half-open')),
  probe_at timestamptz not null default '-infinity',
  probe_failures integer not null default 0,
  probe_successes integer not null default 0,
  failures_in_row integer not null default 0,
  window_started_at timestamptz not null default '-infinity',
  window_attempts integer not null default 0,
  window_failures integer not null default 0,

  last_success_at timestamptz,
  last_failure_at timestamptz,
  failing_since timestamptz,
  failures_since_success integer not null default 0,
  -- The last threshold on the way to being disabled that was warned of, in percent.
  warned_percent integer not null default 0,
  gone_since timestamptz,
  gone_event_id text,
  is_gone_for_several boolean not null default false,
  last_status integer,
  last_error_class text,
  last_answer text,
  -- Why a 2xx may not mean that anything records the events: by the latest success, and by the latest test.
  answer_warning text check (answer_warning in ('html-answer', 'negative-answer')),
  accepts_wrong_signature boolean not null default false,

  -- The one test event of the current pending period, sent again until it is answered 2xx.
  test_event_id text,
  test_due_at timestamptz not null default now(),
  tests integer not null default 0,
  is_tested_for_event boolean not null default false
) with (fillfactor = 50);
create index endpoints_to_test on endpoints (test_due_at) where state = 'pending';
create index endpoints_to_hold on endpoints (bot_id) where state <> 'active';

-- What was claimed for each endpoint, over all nodes. A claim locks this row. It is apart from `endpoints`, which recordings of
-- attempts write, so that claims and recordings do not block each other.
create table endpoint_claims (
  bot_id text primary key references endpoints on delete cascade,
  claimed bigint not null default 0,
  last_served_at timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- Who is told when the endpoint of a bot fails, recovers or is disabled; opt-in. `health`: the last one that a notice was made
-- of. No further notice is sent before `quiet_until`.
create table notice_receivers (
  bot_id text not null references bots,
  channel text not null check (channel in ('webhook', 'email', 'telegram')),
  address text not null,
  health text not null default 'recovered' check (health in ('failing', 'recovered', 'disabled', 'doubtful')),
  quiet_until timestamptz,
  last_sent_at timestamptz,
  last_error text,
  primary key (bot_id, channel)
);

-- Notices to be sent, made with the change of the health: at most one for each receiver, which sums up later changes.
create table notices (
  bot_id text not null,
  channel text not null,
  notice_id text not null,
  health text not null check (health in ('failing', 'recovered', 'disabled', 'doubtful')),
  reason text check (reason in ('operator', 'gone', 'failing', 'html-answer', 'negative-answer', 'wrong-signature-accepted')),
  url text,
  last_status integer,
  last_error_class text,
  changes integer not null default 1,
  occurred_at timestamptz not null default now(),
  attempts integer not null default 0,
  due_at timestamptz not null,
  primary key (bot_id, channel),
  foreign key (bot_id, channel) references notice_receivers on delete cascade
);
create index notices_due on notices (due_at);

-- Refused visits of direct links, as counts, since a link can be opened any number of times. `summed` is how many of them the
-- statistics include.
create table click_refusals (
  bot_id text not null,
  code text collate "C" not null,
  reason text not null check (reason in ('cooldown', 'daily-cap', 'used', 'expired', 'bot-suspended', 'no-ad', 'address-limit',
    'machine-head', 'machine-prefetch', 'machine-empty-agent', 'machine-crawler', 'machine-library',
    'tap-asked-address', 'tap-asked-embedded', 'tap-asked-scripted', 'tap-asked-no-language', 'tap-asked-foreign-form',
    'tap-asked-no-token', 'tap-asked-crawler-like', 'tap-asked-unknown-agent', 'held', 'suspicious', 'operator')),
  -- The beginning of the quarter of an hour.
  quarter timestamptz not null,
  count bigint not null check (count > 0),
  summed bigint not null default 0,
  is_summed boolean not null default false,
  primary key (code, bot_id, reason, quarter)
) partition by range (quarter);
-- Its condition stays true while a row's count grows, so that those updates touch no index.
create index click_refusals_to_sum on click_refusals (quarter, bot_id, code, reason) where not is_summed;

-- Clicks that earned nothing: held or refused as suspicious ('released' once an operator paid for one), and the first few
-- refused visits of each code and reason in full. By the week of the code, so that what is unique of a code is found in one
-- partition.
create table withheld_clicks (
  click_id text collate "C" not null,
  bot_id text not null,
  code text collate "C" not null,
  user_id text not null,
  campaign_id text,
  -- Decided as suspicious, or why a visit was refused.
  outcome text not null check (outcome in ('held', 'refused', 'released',
    'cooldown', 'daily-cap', 'used', 'expired', 'bot-suspended', 'no-ad', 'address-limit',
    'machine-head', 'machine-prefetch', 'machine-empty-agent', 'machine-crawler', 'machine-library',
    'tap-asked-address', 'tap-asked-embedded', 'tap-asked-scripted', 'tap-asked-no-language', 'tap-asked-foreign-form',
    'tap-asked-no-token', 'tap-asked-crawler-like', 'tap-asked-unknown-agent')),
  user_agent text not null default '',
  address_hash bytea,
  network_hash bytea,
  audience text not null default '',
  suspicions text[] not null default '{}' check (suspicions <@ array['many-users-of-one-address', 'crowded-network',
    'many-users-of-one-agent', 'mostly-taps', 'right-after-issue', 'address-changed', 'tap-unconfirmed']),
  occurred_at timestamptz not null,
  decided_at timestamptz,
  primary key (click_id, bot_id, code)
) partition by range (code);
create index withheld_clicks_of_code on withheld_clicks (code, bot_id);
-- A click that was withheld as suspicious is the only one of its code.
create unique index withheld_clicks_once on withheld_clicks (code, bot_id) where outcome in ('held', 'refused', 'released');
create index withheld_clicks_suspicious on withheld_clicks (occurred_at desc, click_id) where suspicions <> '{}';

-- The activity of one address on one day (UTC). A click that is decided on it is written only if "counted" is still the same.
-- The day is part of the hash. Kept for two days.
create table address_days (
  day date not null,
  address_hash bytea not null,
  -- Times of counted clicks, newest first, as many as the limits need.
  clicks timestamptz[] not null,
  counted integer not null,
  -- The counted clicks that came from the button of our page.
  tapped integer not null,
  -- Pairs of user agent and user, newest first: 32 bits of a hash of the agent, 32 bits of a hash of the user.
  devices bigint[] not null,
  -- Pairs of bot and user, one for each time in clicks: 32 bits of a hash of the bot, 32 bits of a hash of the user.
  viewers bigint[] not null,
  primary key (day, address_hash)
) with (fillfactor = 70);

-- How many users of a bot came from one network (/24, /56) with their first click of a day (UTC), and in the latest minute in
-- which one came. The day is part of the hash. Kept for two days.
create table network_days (
  day date not null,
  bot_id text not null,
  network bytea not null,
  users integer not null,
  minute timestamptz not null,
  minute_users integer not null,
  primary key (day, bot_id, network)
) with (fillfactor = 70);

-- The ad that a VAST tag was unwrapped to for a view. Kept apart from the view, which each report reads.
create table vast_ads (
  bot_id text not null,
  view_id text not null,
  -- When the view was opened. Whoever deletes the view deletes this row, too: a week that foreign keys refer to could not be
  -- dropped while others write.
  opened_at timestamptz not null,
  ad jsonb not null,
  primary key (view_id, bot_id, opened_at)
) partition by range (opened_at);

-- Tracker calls of VAST ads, each made once. A claim moves due_at: until then the call belongs to its claimer.
create sequence tracker_call_ids;
create table tracker_calls (
  -- Not an identity: before version 17, PostgreSQL has none in partitioned tables.
  call_id bigint not null default nextval('tracker_call_ids'),
  -- When the view was opened, so that calls of one view are in one partition; of an error of a tag, when it was reported.
  opened_at timestamptz not null,
  bot_id text not null,
  -- Null: an error of a tag, reported before there was a view.
  view_id text,
  event text not null,
  -- Index among several addresses of one event.
  position integer not null,
  url text not null,
  user_agent text not null default '',
  attempts integer not null default 0,
  due_at timestamptz not null,
  finished_at timestamptz,
  -- 'unknown': it was sent and not answered, so it may have been counted, and is not sent again.
  outcome text check (outcome in ('answered', 'refused', 'failed', 'unknown')),
  primary key (call_id, bot_id, opened_at),
  check ((finished_at is null) = (outcome is null))
) partition by range (opened_at);
alter sequence tracker_call_ids owned by tracker_calls.call_id;
create unique index tracker_calls_once on tracker_calls (view_id, bot_id, event, position, opened_at);
create index tracker_calls_due on tracker_calls (due_at) where finished_at is null;

-- The first CTA click of a view.
create table cta_clicks (
  bot_id text not null,
  view_id text not null,
  click_id text collate "C" not null,
  user_id text not null,
  campaign_id text not null,
  creative_id text not null,
  audience text not null default '',
  occurred_at timestamptz not null,
  -- When the view was opened, so that a view has one row at most, in whichever week it is clicked.
  opened_at timestamptz not null,
  xid xid8 not null default commit_xid(),
  primary key (view_id, bot_id, opened_at)
) partition by range (opened_at);
create index cta_clicks_of_id on cta_clicks (click_id);
create index cta_clicks_in_commit_order on cta_clicks (xid);

-- Viewers' objections to ads: the first of each user, creative and day (UTC).
create table ad_reports (
  bot_id text not null,
  user_id text not null,
  creative_id text not null,
  day date not null,
  reason text not null check (reason in ('offensive', 'misleading', 'scam', 'illegal', 'broken', 'other')),
  campaign_id text not null,
  view_id text not null,
  reported_at timestamptz not null,
  primary key (user_id, bot_id, creative_id, day)
) partition by range (day);
create index ad_reports_of_creative on ad_reports (creative_id, reason);

-- Conversions that advertisers report for clicks. Append-only.
create table conversions (
  click_id text collate "C" not null,
  event text not null default '',
  -- The advertiser's own id; '' without one: then a click converts once for each event.
  conversion_id text not null default '',
  value_micros bigint check (value_micros >= 0),
  -- The deployment's when the conversion was reported.
  currency text not null default '',
  bot_id text not null,
  campaign_id text not null,
  creative_id text,
  audience text not null default '',
  occurred_at timestamptz not null,
  -- When an operator reversed it.
  reversed_at timestamptz,
  -- The time in the click's id, so that a report that is repeated in another week finds its row.
  clicked_at timestamptz not null,
  xid xid8 not null default commit_xid(),
  primary key (click_id, event, conversion_id, bot_id, clicked_at)
) partition by range (clicked_at);
create index conversions_in_commit_order on conversions (xid);
create index conversions_latest on conversions (occurred_at desc, click_id);

-- Reversals of conversions: what the statistics subtract. Append-only.
create table conversion_reversals (
  event text not null,
  bot_id text not null,
  campaign_id text not null,
  creative_id text,
  audience text not null default '',
  currency text not null,
  value_micros bigint,
  occurred_at timestamptz not null,
  xid xid8 not null default commit_xid()
) partition by range (occurred_at);
create index conversion_reversals_in_commit_order on conversion_reversals (xid);

-- The sums of conversions: what was reported in a quarter of an hour, and what was reversed in it.
create table conversion_quarters (
  bot_id text not null,
  quarter timestamptz not null,
  campaign_id text not null,
  creative_id text not null default '',
  event text not null,
  currency text not null,
  reported bigint not null default 0,
  reported_micros numeric not null default 0,
  reversed bigint not null default 0,
  reversed_micros numeric not null default 0,
  primary key (bot_id, quarter, campaign_id, creative_id, event, currency)
);
create index conversion_quarters_by_time on conversion_quarters (quarter);

-- Refused postbacks, by day and reason.
create table conversion_refusals (
  day date not null,
  reason text not null check (reason in ('unknown-key', 'unknown-click', 'refused-click', 'too-late', 'too-many', 'reversed',
    'unknown-currency', 'malformed')),
  count bigint not null,
  primary key (day, reason)
);

-- The outcome of each request for a rewarded ad. Append-only.
create table ad_requests (
  bot_id text not null,
  user_id text not null,
  code text collate "C",
  -- 'limited' by the publisher's cooldown or cap and 'refused' because of the code: no ad was requested.
  outcome text not null check (outcome in ('filled', 'no-ad', 'limited', 'refused')),
  reason text not null default '',
  campaign_id text,
  creative_id text,
  audience text not null default '',
  occurred_at timestamptz not null,
  xid xid8 not null default commit_xid()
) partition by range (occurred_at);
create index ad_requests_of_code on ad_requests (code, bot_id);
create index ad_requests_in_commit_order on ad_requests (xid);

-- Milestones of a view, each once: written by the statement that stores the progress. Append-only.
create table ad_milestones (
  bot_id text not null,
  campaign_id text not null,
  creative_id text not null,
  milestone text not null check (milestone in
    ('start', 'first-quartile', 'midpoint', 'third-quartile', 'complete', 'close', 'held', 'refused', 'fault')),
  reason text not null default '',
  audience text not null default '',
  occurred_at timestamptz not null,
  xid xid8 not null default commit_xid()
) partition by range (occurred_at);
create index ad_milestones_in_commit_order on ad_milestones (xid);

-- The publisher's percentage of a price, and its start. The latest one applies: each event stores what it came to.
create table publisher_shares (
  since timestamptz primary key,
  percent integer not null check (percent between 0 and 100)
);

-- The sums of the statistics, a column for each measure (statistics/measures.ts). Each fact is in four rows: of its quarter of
-- an hour, its hour, its six hours and its day, all of UTC. So a report cuts days in any zone from quarters, and reads the larger
-- spans where it can (statistics/time-pieces.ts). campaign_id and creative_id are '' for what belongs to no campaign.
create table stats_sums (
  span text not null check (span in ('quarter', 'hour', 'six-hours', 'day')),
  starts_at timestamptz not null,
  bot_id text not null,
  campaign_id text not null default '',
  creative_id text not null default '',
  fills integer not null default 0,
  no_fills integer not null default 0,
  limited integer not null default 0,
  requests_refused integer not null default 0,
  starts integer not null default 0,
  first_quartiles integer not null default 0,
  midpoints integer not null default 0,
  third_quartiles integer not null default 0,
  completions integer not null default 0,
  closes integer not null default 0,
  views_held integer not null default 0,
  views_refused integer not null default 0,
  playback_faults integer not null default 0,
  rewards integer not null default 0,
  clicks integer not null default 0,
  refunds integer not null default 0,
  clicks_refused integer not null default 0,
  taps integer not null default 0,
  conversions integer not null default 0,
  spend_micros bigint not null default 0,
  revenue_micros bigint not null default 0,
  -- The part of the revenue that views earned, less refunds of views.
  view_revenue_micros bigint not null default 0,
  primary key (bot_id, span, starts_at, campaign_id, creative_id)
) partition by list (span);
create index stats_sums_by_time on stats_sums (span, starts_at);
create table stats_sums_of_quarters partition of stats_sums for values in ('quarter') with (fillfactor = 70);
create table stats_sums_of_hours partition of stats_sums for values in ('hour') with (fillfactor = 70);
create table stats_sums_of_six_hours partition of stats_sums for values in ('six-hours') with (fillfactor = 70);
create table stats_sums_of_days partition of stats_sums for values in ('day') with (fillfactor = 70);

-- The same facts by the audience, in bounded kinds (ad-selection/audience.ts): 'other' is an unknown or rare value, and '' is
-- one that was not recorded, such as the country if no source of countries is configured.
create table stats_audiences (
  span text not null check (span in ('quarter', 'hour', 'six-hours', 'day')),
  starts_at timestamptz not null,
  bot_id text not null,
  campaign_id text not null default '',
  country text not null default '',
  platform text not null default '',
  language text not null default '',
  premium text not null default '',
  fills integer not null default 0,
  no_fills integer not null default 0,
  limited integer not null default 0,
  requests_refused integer not null default 0,
  starts integer not null default 0,
  first_quartiles integer not null default 0,
  midpoints integer not null default 0,
  third_quartiles integer not null default 0,
  completions integer not null default 0,
  closes integer not null default 0,
  views_held integer not null default 0,
  views_refused integer not null default 0,
  playback_faults integer not null default 0,
  rewards integer not null default 0,
  clicks integer not null default 0,
  refunds integer not null default 0,
  clicks_refused integer not null default 0,
  taps integer not null default 0,
  conversions integer not null default 0,
  spend_micros bigint not null default 0,
  revenue_micros bigint not null default 0,
  -- The part of the revenue that views earned, less refunds of views.
  view_revenue_micros bigint not null default 0,
  primary key (bot_id, span, starts_at, campaign_id, country, platform, language, premium)
) partition by list (span);
create index stats_audiences_by_time on stats_audiences (span, starts_at);
create table stats_audiences_of_quarters partition of stats_audiences for values in ('quarter') with (fillfactor = 70);
create table stats_audiences_of_hours partition of stats_audiences for values in ('hour') with (fillfactor = 70);
create table stats_audiences_of_six_hours partition of stats_audiences for values in ('six-hours') with (fillfactor = 70);
create table stats_audiences_of_days partition of stats_audiences for values in ('day') with (fillfactor = 70);

-- The counts of the measures that have reasons, by reason. Reasons are not a closed set of columns, so these are rows.
create table stats_reasons (
  span text not null check (span in ('quarter', 'hour', 'six-hours', 'day')),
  starts_at timestamptz not null,
  bot_id text not null,
  campaign_id text not null default '',
  creative_id text not null default '',
  measure text not null check (measure in ('no-fills', 'limited', 'requests-refused', 'closes', 'views-held', 'views-refused',
    'playback-faults', 'refunds', 'clicks-refused')),
  reason text not null,
  count integer not null,
  primary key (bot_id, span, starts_at, campaign_id, creative_id, measure, reason)
) partition by list (span);
create index stats_reasons_by_time on stats_reasons (span, starts_at);
create table stats_reasons_of_quarters partition of stats_reasons for values in ('quarter') with (fillfactor = 70);
create table stats_reasons_of_hours partition of stats_reasons for values in ('hour') with (fillfactor = 70);
create table stats_reasons_of_six_hours partition of stats_reasons for values in ('six-hours') with (fillfactor = 70);
create table stats_reasons_of_days partition of stats_reasons for values in ('day') with (fillfactor = 70);

-- The same sums without what most reports do not ask for: of a bot, over all campaigns, and of a campaign, over all bots. So
-- a report that needs only one of both reads some twentieth of the rows (statistics/sum-tables.ts).
create table stats_bot_sums (like stats_sums including defaults including constraints) partition by list (span);
alter table stats_bot_sums drop column campaign_id, drop column creative_id, add primary key (bot_id, span, starts_at);
create table stats_campaign_sums (like stats_sums including defaults including constraints) partition by list (span);
alter table stats_campaign_sums drop column bot_id, add primary key (campaign_id, span, starts_at, creative_id);
create table stats_bot_audiences (like stats_audiences including defaults including constraints) partition by list (span);
alter table stats_bot_audiences drop column campaign_id,
  add primary key (bot_id, span, starts_at, country, platform, language, premium);
create table stats_campaign_audiences (like stats_audiences including defaults including constraints) partition by list (span);
alter table stats_campaign_audiences drop column bot_id,
  add primary key (campaign_id, span, starts_at, country, platform, language, premium);
create table stats_bot_reasons (like stats_reasons including defaults including constraints) partition by list (span);
alter table stats_bot_reasons drop column campaign_id, drop column creative_id,
  add primary key (bot_id, span, starts_at, measure, reason);
create table stats_campaign_reasons (like stats_reasons including defaults including constraints) partition by list (span);
alter table stats_campaign_reasons drop column bot_id,
  add primary key (campaign_id, span, starts_at, creative_id, measure, reason);
do $$
declare
  summed text;
  part record;
begin
  foreach summed in array array['stats_bot_sums', 'stats_campaign_sums', 'stats_bot_audiences', 'stats_campaign_audiences',
    'stats_bot_reasons', 'stats_campaign_reasons'] loop
    execute format('create index %I on %I (span, starts_at)', summed || '_by_time', summed);
    for part in values ('quarter', 'quarters'), ('hour', 'hours'), ('six-hours', 'six_hours'), ('day', 'days') loop
      execute format('create table %I partition of %I for values in (%L) with (fillfactor = 70)',
        summed || '_of_' || part.column2, summed, part.column1);
    end loop;
  end loop;
end
$$;

-- The position up to which each kind of raw row is summed, in commit order. Changed by the transaction that adds them. The row
-- of 'requests' is the lock of whoever changes sums, so that no two transactions do.
create table stats_progress (
  source text primary key,
  xid xid8 not null default '0',
  counted_until timestamptz not null default '-infinity'
);
insert into stats_progress (source)
  values ('requests'), ('milestones'), ('events'), ('refunds'), ('refused-clicks'), ('cta-clicks'), ('conversions'), ('reversals');

-- People who may sign in: those who operate the deployment, and those of advertisers and publishers, who reach only what is
-- theirs.
create table people (
  person_id text primary key,
  email text not null unique check (email = lower(email) and length(email) between 3 and 254),
  role text not null check (role in ('owner', 'ad-ops', 'analyst', 'advertiser', 'publisher')),
  advertiser_id text references advertisers,
  bot_ids text[] not null default '{}',
  is_disabled boolean not null default false,
  -- argon2id in the PHC string format; null until the invitation is accepted.
  password_hash text,
  -- Sealed with ENCRYPTION_KEY. `totp_step` is the last accepted step: a code is accepted once.
  totp_secret bytea not null,
  totp_step bigint not null default 0,
  -- SHA-256 of the token of the open invitation.
  invitation_hash bytea unique,
  invitation_expires_at timestamptz,
  -- SHA-256 of the token of a link that signs in once.
  sign_in_hash bytea unique,
  sign_in_expires_at timestamptz,
  -- The latest addresses of sign-ins: wrong tries from elsewhere do not use up their tries.
  known_addresses text[] not null default '{}',
  created_at timestamptz not null default now(),
  check ((role = 'advertiser') = (advertiser_id is not null)),
  check ((role = 'publisher') = (bot_ids <> '{}'))
);

-- Sessions of people, by the SHA-256 of the cookie's token.
create table person_sessions (
  token_hash bytea primary key,
  person_id text not null references people,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  expires_at timestamptz not null,
  -- As whom the person sees the console, only to read; null: as the own person.
  impersonated_id text references people,
  impersonated_until timestamptz,
  check ((impersonated_id is null) = (impersonated_until is null))
);
create index person_sessions_of_person on person_sessions (person_id);
create index person_sessions_impersonating on person_sessions (impersonated_until) where impersonated_id is not null;
create index person_sessions_by_impersonated on person_sessions (impersonated_id) where impersonated_id is not null;

-- Accounts at OpenID providers, as Telegram, that sign a person in: a subject is unique within its issuer.
create table person_identities (
  identity_id text primary key,
  person_id text not null references people,
  issuer text not null check (length(issuer) between 1 and 2048),
  subject text not null check (length(subject) between 1 and 255),
  -- What the provider calls the person, for people to recognise the account.
  label text not null check (length(label) between 1 and 128),
  created_at timestamptz not null,
  last_used_at timestamptz,
  unique (issuer, subject)
);
create index person_identities_of_person on person_identities (person_id);

create table person_passkeys (
  passkey_id text primary key,
  person_id text not null references people,
  -- In base64url, as browsers name it.
  credential_id text not null unique check (length(credential_id) between 1 and 1400),
  -- COSE.
  public_key bytea not null,
  -- Of the latest accepted use; 0 where the authenticator does not count.
  sign_count bigint not null check (sign_count >= 0),
  transports text[] not null,
  name text not null check (length(name) between 1 and 64),
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index person_passkeys_of_person on person_passkeys (person_id);

-- Challenges that a passkey has answered, by their SHA-256, until they expire: an answer is accepted once.
create table used_passkey_challenges (
  challenge_hash bytea primary key,
  expires_at timestamptz not null
);
create index used_passkey_challenges_by_end on used_passkey_challenges (expires_at);

-- Reports of the console that people keep by name: `search` is the query of the report's address.
create table saved_reports (
  saved_report_id text primary key,
  person_id text not null references people,
  name text not null check (length(name) between 1 and 60),
  search text not null check (length(search) <= 2048),
  saved_at timestamptz not null
);
create unique index saved_reports_by_name on saved_reports (person_id, lower(name));

-- Who changed what: written by the transaction that makes the change. Append-only.
create table audit_entries (
  entry_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- A person's id, or 'command-line'; the name is the e-mail address at that time.
  actor text not null,
  actor_name text,
  operation text not null,
  object_kind text not null,
  object_id text not null,
  -- At that time; null: objects of its kind have none.
  object_name text,
  -- The fields that the change has set; of a new object the state after it, of a removed one that before.
  before jsonb,
  after jsonb,
  address text not null,
  request_id text not null
);
create index audit_entries_of_object on audit_entries (object_kind, object_id, entry_id);
create index audit_entries_of_actor on audit_entries (actor, entry_id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger audit_entries_stay before update or delete or truncate on audit_entries execute function refuse_change();

-- What was recorded about money, each once: a top-up, the charges of a batch, a payout.
create table money_transactions (
  transaction_id text primary key check (length(transaction_id) between 1 and 200),
  -- Of the bank, the invoice or the payment provider.
  reference text check (length(reference) between 1 and 128),
  note text check (length(note) between 1 and 500),
  -- Of a payout: everything that was owed until the end of this month.
  month date check (extract(day from month) = 1)
);

-- The entries of a transaction: what each account gets, or with a negative amount gives. They sum to 0. Positive on an
-- advertiser's account is what is left to spend; on a publisher's, what is owed; on cash, the other side: what was received is
-- negative there. Append-only.
create table money_entries (
  transaction_id text not null references money_transactions,
  account text not null check (account ~ '^(cash|revenue|advertiser:adv_[0-9A-Za-z]+|publisher:[1-9][0-9]*)$'),
  kind text not null check (kind in ('top_up', 'charge', 'refund', 'correction', 'payout')),
  amount_micros bigint not null check (amount_micros <> 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  at timestamptz not null,
  entry_id bigint generated always as identity unique,
  primary key (transaction_id, account)
);
create index money_entries_of_account on money_entries (account, at, entry_id);
create index money_entries_of_payments on money_entries (account) where kind in ('top_up', 'correction', 'payout');
create trigger money_transactions_stay before update or delete or truncate on money_transactions
  execute function refuse_change();
create trigger money_entries_stay before update or delete or truncate on money_entries execute function refuse_change();

-- One statement writes all sides of a transaction.
create function require_balanced_entries() returns trigger language plpgsql as $$
begin
  if exists (select from added group by transaction_id, currency having sum(amount_micros) <> 0) then
    raise exception 'the entries of a transaction of money must sum to 0';
  end if;
  return null;
end $$;
create trigger money_entries_balance after insert on money_entries referencing new table as added
  for each statement execute function require_balanced_entries();

-- The position up to which priced events and refunds have entries, in commit order.
create table money_progress (
  source text primary key,
  xid xid8 not null default '0',
  settled_until timestamptz not null default '-infinity'
);
insert into money_progress (source) values ('events'), ('refunds');

-- Monthly statements of accounts, numbered without gaps in the order in which they were issued. Append-only.
create table money_statements (
  number bigint primary key check (number > 0),
  account text not null,
  month date not null check (extract(day from month) = 1),
  -- Of the advertiser or the bot when it was issued.
  name text not null,
  currency text not null,
  opening_micros bigint not null,
  closing_micros bigint not null,
  -- Payments one by one, charges and refunds in one sum each: `StatementLine` (statements.ts).
  lines jsonb not null check (jsonb_typeof(lines) = 'array'),
  issued_at timestamptz not null,
  unique (account, month)
);
create trigger money_statements_stay before update or delete or truncate on money_statements
  execute function refuse_change();
