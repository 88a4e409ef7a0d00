/** Videos that a player gave up, and what is not shown to their viewer again; taps on calls to action in the statistics. */
export const migration = `
alter table ad_sessions
  -- What its player said last, and when.
  add column fault text check (fault in ('not-found', 'timeout', 'unsupported', 'not-displayed', 'too-short', 'other')),
  add column fault_at timestamptz,
  -- What the code was opened with before, and could not be played.
  add column failed_creatives text[] not null default '{}';

-- Wider than before, so that no row needs to be looked at while all wait.
alter table ad_milestones drop constraint ad_milestones_milestone_check;
alter table ad_milestones add constraint ad_milestones_milestone_check check (milestone in
  ('start', 'first-quartile', 'midpoint', 'third-quartile', 'complete', 'close', 'held', 'refused', 'fault')) not valid;

-- Taps of before are counted, too: all of them have the number of this transaction.
alter table ad_clicks add column xid xid8 not null default pg_current_xact_id();
create index ad_clicks_in_commit_order on ad_clicks (xid);
insert into stats_progress (source) values ('taps');
`;
