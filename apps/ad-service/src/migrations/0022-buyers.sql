-- works-with: 0016-joins
-- Buyers of OpenRTB: each has an advertiser, a campaign and a creative of its own, so that what it buys is shown, paid and summed
-- as every other ad.
create table buyers (
  buyer_id text primary key check (buyer_id ~ '^buy_[0-9A-Za-z]{1,60}$'),
  advertiser_id text not null references advertisers,
  campaign_id text not null unique references campaigns,
  creative_id text not null unique references creatives,
  is_active boolean not null default false,
  url text not null check (length(url) <= 2048),
  -- AES-256-GCM under ENCRYPTION_KEY, by the buyer's id; null: none is sent.
  sealed_key bytea,
  -- For the ids of users that this buyer is sent.
  user_key bytea not null check (octet_length(user_key) = 32),
  tmax_ms integer not null check (tmax_ms between 50 and 800),
  sends text[] not null check (sends <@ array['user-id', 'address']),
  -- The price of 1,000 impressions.
  floor_micros bigint not null check (floor_micros >= 0),
  blocked_categories text[] not null,
  category_taxonomy integer not null check (category_taxonomy between 1 and 9),
  blocked_domains text[] not null,
  needs_category boolean not null,
  stored_request text check (length(stored_request) between 1 and 128),
  always_tests boolean not null,
  created_at timestamptz not null default now()
);

-- The latest twenty requests to each buyer with their answers; whoever adds one removes what is older.
create table buyer_exchanges (
  exchange_id bigint generated always as identity,
  buyer_id text not null references buyers,
  bot_id text not null,
  is_test boolean not null,
  at timestamptz not null,
  took_ms integer not null,
  outcome text not null check (outcome in ('won', 'lost', 'no-bid', 'timeout', 'unreachable', 'status', 'malformed', 'too-large',
    'other-request', 'other-impression', 'other-currency', 'no-price', 'implausible-price', 'below-floor', 'other-format',
    'other-duration', 'no-markup', 'broken-markup', 'blocked-attribute', 'blocked-domain', 'blocked-category', 'no-category',
    'resting', 'busy', 'no-time')),
  reason integer,
  detail text,
  bids jsonb not null,
  request text not null,
  answer text,
  primary key (exchange_id, bot_id)
);
create index buyer_exchanges_of_buyer on buyer_exchanges (buyer_id, exchange_id);
