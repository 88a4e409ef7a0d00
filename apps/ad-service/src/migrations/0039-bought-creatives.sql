-- Creatives that buyers have bid with: each is offered a limited number of times before a person has seen it.
-- works-with: 0038-report-mails
alter table buyers
  add column allowed_regulated text[] not null default '{}',
  add column first_seen_limit integer not null default 100,
  add column report_limit integer not null default 3,
  add constraint buyers_allowed_regulated_check check (allowed_regulated <@ array['adult', 'alcohol', 'cannabis', 'crypto', 'dating', 'gambling', 'illegal', 'loans', 'medicine', 'politics', 'tobacco', 'weapons']) not valid,
  add constraint buyers_first_seen_limit_check check (first_seen_limit between 0 and 1000000) not valid,
  add constraint buyers_report_limit_check check (report_limit between 1 and 1000) not valid;

create table bought_creatives (
  -- A hash of the buyer, the seat and the buyer's own id of the creative; without an id, of what it shows.
  bought_creative_id text primary key check (bought_creative_id ~ '^bcr_[0-9a-f]{32}$'),
  buyer_id text not null references buyers,
  seat text,
  crid text,
  domains text[] not null,
  categories text[] not null,
  advertiser text,
  title text,
  -- The latest one, for the reviewer.
  media_url text not null,
  media_type text not null,
  width integer not null,
  height integer not null,
  duration_ms integer not null,
  landing_url text,
  -- All that were seen with it, files by a hash of their address: another one is unknown, and waits for a review.
  media text[] not null,
  landing_hosts text[] not null,
  review text not null default 'waiting' check (review in ('waiting', 'reported', 'approved', 'refused')),
  review_reason text,
  -- Raised whenever something of it is new.
  revision integer not null default 1,
  -- How often it was offered while it waited.
  offered integer not null default 0,
  -- Of different viewers, since the last review.
  reports integer not null default 0,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  reviewed_at timestamptz
);
create index bought_creatives_of_buyer on bought_creatives (buyer_id, bought_creative_id);
create index bought_creatives_to_review on bought_creatives (first_seen_at, bought_creative_id) where review in ('waiting', 'reported');

create table bought_creative_reports (
  bought_creative_id text not null references bought_creatives,
  bot_id text not null,
  user_id text not null,
  reported_at timestamptz not null,
  primary key (bought_creative_id, bot_id, user_id)
);
create index bought_creative_reports_of_user on bought_creative_reports (bot_id, user_id);

alter table buyer_exchanges drop constraint buyer_exchanges_outcome_check;
alter table buyer_exchanges add constraint buyer_exchanges_outcome_check check (outcome in ('won', 'lost', 'not-offered', 'accepted',
  'no-bid', 'timeout', 'unreachable', 'status', 'malformed', 'too-large', 'other-request', 'other-impression', 'other-currency',
  'no-price', 'implausible-price', 'below-floor', 'other-format', 'other-duration', 'no-markup', 'broken-markup',
  'blocked-attribute', 'blocked-domain', 'blocked-category', 'no-category', 'unreviewed', 'disapproved', 'resting', 'busy', 'no-time',
  'not-permitted')) not valid;
