/** The health of each bot's endpoint, and what the schedule of a delivery needs beside the number of its attempts. */
export const migration = `
-- One row for each bot that has an address for webhooks. Written with each batch of attempts: room for updates in place.
create table endpoints (
  bot_id text primary key references bots,
  url text not null,
  state text not null check (state in ('pending', 'active', 'disabled')),
  state_since timestamptz not null default now(),
  disabled_reason text check (disabled_reason in ('operator', 'gone', 'failing')),
  max_in_flight integer not null default 4 check (max_in_flight between 1 and 40),
  -- Claimed and not yet booked, over all nodes.
  in_flight integer not null default 0 check (in_flight >= 0),
  last_served_at timestamptz not null default '-infinity',
  rest_until timestamptz not null default '-infinity',

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
  -- The way to being disabled that was last warned of, in percent.
  warned_percent integer not null default 0,
  gone_since timestamptz,
  gone_event_id text,
  is_gone_for_several boolean not null default false,
  last_status integer,
  last_error_class text,
  last_answer text,

  -- Of the present pending time: its one test event, sent again until it is answered 2xx.
  test_event_id text,
  test_due_at timestamptz not null default now(),
  tests integer not null default 0,
  is_tested_for_event boolean not null default false
) with (fillfactor = 50);
create index endpoints_to_test on endpoints (test_due_at) where state = 'pending';
create index endpoints_to_hold on endpoints (bot_id) where state <> 'active';

insert into endpoints (bot_id, url, state) select bot_id, webhook_url, 'active' from bots where webhook_url is not null;
alter table bots drop column webhook_url;

alter table deliveries
  -- Failures that the schedule counts; replays and our own faults are none.
  add column schedule_step integer not null default 0,
  -- The claim that was booked last: each is booked once, however often an uncertain commit is repeated.
  add column booked_fence bigint not null default 0,
  -- Set while a replay is on its way: what the delivery returns to if that fails.
  add column resume_state text check (resume_state in ('waiting', 'delivered', 'unknown')),
  add column resume_due_at timestamptz,
  add column end_reason text check (end_reason in ('attempts-used-up', 'at-most-once', 'held-too-long', 'test'));
update deliveries set schedule_step = attempts where state in ('waiting', 'held', 'sending');
update deliveries set booked_fence = fence where state <> 'sending';
create index deliveries_undelivered on deliveries (bot_id, event_id) where state in ('failed', 'unknown');

alter table delivery_attempts drop column connect_ms;
alter table delivery_attempts
  add column dns_ms integer,
  add column tcp_ms integer,
  add column tls_ms integer,
  add column is_replay boolean not null default false;
-- Rows come in the order of time: block ranges find the old ones, at next to no cost for an insert.
drop index delivery_attempts_by_time;
create index delivery_attempts_by_time on delivery_attempts using brin (started_at) with (pages_per_range = 32);
`;
