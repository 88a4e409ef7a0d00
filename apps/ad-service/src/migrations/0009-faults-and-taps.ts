/** Videos that a player gave up: what they are put down to, and what is not shown to their viewer again. */
export const migration = `
alter table ad_sessions
  -- What its player said last, and when.
  add column fault text check (fault in ('not-found', 'timeout', 'unsupported', 'not-displayed', 'too-short', 'other')),
  add column fault_at timestamptz,
  -- What the code was opened with before, and could not be played.
  add column failed_creatives text[] not null default '{}';

alter table ad_milestones drop constraint ad_milestones_milestone_check;
alter table ad_milestones add constraint ad_milestones_milestone_check check (milestone in
  ('start', 'first-quartile', 'midpoint', 'third-quartile', 'complete', 'close', 'held', 'refused', 'fault'));
`;
