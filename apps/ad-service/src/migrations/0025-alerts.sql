-- What people are told that needs somebody: in the console, by mail, and by Telegram.
-- works-with: 0024-bookkeeping

-- What holds now, each once: an alert is made when it begins.
create table alert_conditions (
  cause text not null check (cause in ('money-low', 'budget-spent', 'fill-fallen', 'webhooks-failing', 'videos-waiting',
    'views-held', 'payout-due')),
  -- An advertiser, a campaign, a bot or a month; empty: the deployment.
  object_id text not null,
  since timestamptz not null,
  primary key (cause, object_id)
);

create table alerts (
  alert_id bigint generated always as identity primary key,
  person_id text not null references people,
  cause text not null check (cause in ('money-low', 'budget-spent', 'fill-fallen', 'webhooks-failing', 'videos-waiting',
    'views-held', 'payout-due', 'new-device')),
  object_id text not null,
  -- The values of its sentence: `alertFacts` (packages/operator-api/src/alerts.ts).
  facts jsonb not null check (jsonb_typeof(facts) = 'object'),
  made_at timestamptz not null,
  read_at timestamptz,
  -- Where it waits to be sent: 'email', 'telegram'.
  unsent text[] not null default '{}' check (unsent <@ array['email', 'telegram'])
);
create index alerts_of_person on alerts (person_id, alert_id desc);
create index alerts_unread on alerts (person_id) where read_at is null;
create index alerts_unsent on alerts (person_id, cause) where unsent <> '{}';

-- Messages to one person about one cause by one channel: at most one an hour.
create table alert_messages (
  person_id text not null references people,
  cause text not null,
  channel text not null check (channel in ('email', 'telegram')),
  -- No message before.
  quiet_until timestamptz not null,
  failures integer not null default 0,
  last_error text,
  primary key (person_id, cause, channel)
);

-- What a person has chosen; without a row, the usual. `muted`: 'cause channel'.
create table alert_settings (
  person_id text primary key references people,
  language text not null default 'en',
  telegram_chat_id text,
  muted text[] not null default '{}'
);

-- From where a person has signed in: the network and the browser's name.
create table person_devices (
  person_id text not null references people,
  network text not null,
  browser text not null,
  last_used_at timestamptz not null,
  primary key (person_id, network, browser)
);
