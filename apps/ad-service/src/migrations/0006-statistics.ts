/** What a view tells beyond the clock, what becomes of a suspicious one, and the facts and sums of the statistics. */
export const migration = `
-- A view that was watched and closed, and looks wrong: 'held' until an operator decides, or 'refused' for good.
alter table ad_sessions drop constraint ad_sessions_state_check;
alter table ad_sessions
  add constraint ad_sessions_state_check check (state in ('opened', 'playing', 'watched', 'rewarded', 'held', 'refused')),
  add column signals jsonb,
  add column suspicions text[] not null default '{}',
  add column decided_at timestamptz;
create index ad_sessions_suspicious on ad_sessions (closed_at desc, session_id) where suspicions <> '{}';

-- What became of each wish to watch an ad. Append-only.
create table ad_requests (
  bot_id text not null,
  user_id text not null,
  code text,
  -- 'limited' by the publisher's cooldown or cap, and 'refused' for the code's sake, ask for no ad.
  outcome text not null check (outcome in ('filled', 'no-ad', 'limited', 'refused')),
  reason text not null default '',
  campaign_id text,
  creative_id text,
  occurred_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id()
);
create index ad_requests_of_code on ad_requests (bot_id, code);
create index ad_requests_in_commit_order on ad_requests (xid);
create index ad_requests_by_time on ad_requests using brin (occurred_at) with (pages_per_range = 32);

-- What a view came past, once each: written by the statement that stores the progress. Append-only.
create table ad_milestones (
  bot_id text not null,
  session_id text not null,
  campaign_id text not null,
  creative_id text not null,
  milestone text not null check (milestone in
    ('start', 'first-quartile', 'midpoint', 'third-quartile', 'complete', 'close', 'held', 'refused')),
  reason text not null default '',
  occurred_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id()
);
create index ad_milestones_in_commit_order on ad_milestones (xid);
create index ad_milestones_by_time on ad_milestones using brin (occurred_at) with (pages_per_range = 32);

alter table clicks add column xid xid8 not null default pg_current_xact_id();
create index clicks_refused_in_commit_order on clicks (xid) where outcome not in ('counted', 'test');
create index charges_in_commit_order on charges (xid);

-- What of a charge is the publisher's, from when on. The first row holds for all time before it.
create table publisher_shares (
  since timestamptz primary key,
  percent integer not null check (percent between 0 and 100)
);

-- The sums. What belongs to no campaign has '' there.
create table stats_hours (
  bot_id text not null,
  hour timestamptz not null,
  campaign_id text not null default '',
  creative_id text not null default '',
  measure text not null,
  reason text not null default '',
  count bigint not null,
  spend_micros bigint not null default 0,
  revenue_micros bigint not null default 0,
  primary key (bot_id, hour, campaign_id, creative_id, measure, reason)
) with (fillfactor = 70);
create index stats_hours_by_hour on stats_hours (hour);

-- Up to where each kind of raw row is in the sums, in the order of commits. Changed by the transaction that adds them.
create table stats_progress (
  source text primary key,
  xid xid8 not null default '0',
  counted_until timestamptz not null default '-infinity'
);
insert into stats_progress (source) values ('requests'), ('milestones'), ('charges'), ('clicks');
`;
