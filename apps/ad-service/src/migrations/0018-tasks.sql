-- Tasks: a user joins an advertiser's channel, and Telegram itself reports it to the operator's task bot.
-- works-with: 0016-joins

-- The operator's task bots. Their updates are read by one node at a time: the one that holds the lease.
create table task_bots (
  task_bot_id text primary key check (task_bot_id ~ '^[1-9][0-9]{0,19}$'),
  username text not null,
  -- Sealed with ENCRYPTION_KEY.
  token bytea not null,
  -- Telegram sends the updates from this one on. It changes in the transaction that applies an update.
  next_update bigint not null default 0,
  moved_at timestamptz not null default now(),
  follower text,
  followed_until timestamptz not null default '-infinity',
  -- Telegram has asked for a pause (429): nothing is sent before.
  quiet_until timestamptz not null default '-infinity',
  added_at timestamptz not null default now()
);

-- Channels and groups that tasks are about. A channel belongs to one task bot.
create table task_channels (
  chat_id text primary key check (chat_id ~ '^-[1-9][0-9]{0,19}$'),
  task_bot_id text not null references task_bots,
  title text not null check (length(title) between 1 and 256),
  username text,
  -- New members are approved by the task bot: its links ask for a request to join.
  approves_requests boolean not null default false,
  rights text not null check (rights in ('ready', 'not-admin', 'cannot-invite', 'unknown')),
  checked_at timestamptz not null
);
create index task_channels_of_bot on task_channels (task_bot_id);

alter table campaigns
  drop constraint campaigns_formats_check,
  add constraint campaigns_formats_check
    check (formats <@ array['rewarded', 'direct_link', 'task'] and cardinality(formats) between 1 and 3),
  add column task_price_micros bigint not null default 0 check (task_price_micros >= 0),
  add column task_chat_id text,
  add column task_hold_days integer not null default 7 check (task_hold_days between 0 and 90),
  add column task_paid_at text not null default 'joined' check (task_paid_at in ('joined', 'kept'));

-- The bot asks for tasks, and for their webhooks.
alter table bots
  add column has_tasks boolean not null default false;

-- One row for each offer of a task to a user. What was agreed stays as it was when the task was offered.
create table tasks (
  -- Of the form of all codes; it is not in `codes`, and earns nothing but the task.
  code text collate "C" not null,
  bot_id text not null,
  user_id text not null,
  campaign_id text not null,
  chat_id text not null,
  reference text,
  is_test boolean not null default false,
  price_micros bigint not null check (price_micros >= 0),
  hold_days integer not null,
  paid_at text not null check (paid_at in ('joined', 'kept')),
  state text not null check (state in ('offered', 'opened', 'held', 'kept', 'left', 'lapsed', 'void')),
  void_reason text check (void_reason in ('other-user', 'other-link', 'joined-before', 'member-before')),
  check ((state = 'void') = (void_reason is not null)),
  -- How the join is known: Telegram named the code's link, or said later that the user is a member.
  proof text check (proof in ('link', 'membership')),
  offered_at timestamptz not null,
  expires_at timestamptz not null,
  opened_at timestamptz,
  joined_at timestamptz,
  held_until timestamptz,
  kept_at timestamptz,
  left_at timestamptz,
  check ((joined_at is null) = (proof is null)),
  -- The event that pays it was made, and the one that takes it back.
  is_paid boolean not null default false,
  is_reversed boolean not null default false,
  check (is_paid or not is_reversed),
  -- Telegram said that the user was no member when the task was offered: only then a later membership counts as a join.
  was_out boolean not null,
  -- When Telegram, asked, named the user a member. It counts if no report of the join says otherwise within a minute.
  member_since timestamptz,
  invite_link text unique,
  -- A node is making the link.
  link_claimed_until timestamptz,
  -- What is still to be told to Telegram, and when: a request to join is approved, a link is revoked.
  call text check (call in ('approve', 'revoke')),
  call_due_at timestamptz,
  call_attempts integer not null default 0,
  check ((call is null) = (call_due_at is null)),
  -- When the loop looks at the row again: at the end of the offer, or of the hold.
  due_at timestamptz,
  primary key (code, bot_id)
);
-- A user has one open offer of a campaign and bot at a time.
create unique index tasks_open_once on tasks (user_id, bot_id, campaign_id) where state in ('offered', 'opened');
-- A user joins for a campaign once, for ever, through whichever bot.
create unique index tasks_joined_once on tasks (user_id, campaign_id) where joined_at is not null;
create index tasks_of_user on tasks (user_id, bot_id);
create index tasks_of_chat on tasks (chat_id, user_id);
create index tasks_due on tasks (due_at) where due_at is not null;
create index tasks_to_call on tasks (call_due_at) where call is not null;
create index tasks_under_way on tasks (campaign_id) where state in ('opened', 'held');
create index tasks_newest on tasks (offered_at desc, code);

alter table events drop constraint events_event_check,
  add constraint events_event_check check (event in ('rewarded', 'direct_link', 'task', 'task_reversed')) not valid;
alter table refunds drop constraint refunds_event_check,
  add constraint refunds_event_check check (event in ('rewarded', 'direct_link', 'task')) not valid;
