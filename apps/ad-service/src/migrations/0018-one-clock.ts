/**
 * A viewer's row exists from the first opening on. `credited_until` makes each moment of real time count for one of the
 * viewer's views only; what was credited to a view is its `clock_ms`.
 *
 * `settle_at` is when a view that was closed can settle: when the clock allows its `pending_reports`, or when the bot's
 * cooldown is over.
 */
export const migration = `
alter table viewers alter column last_earned_at drop not null, add column credited_until timestamptz;
alter table ad_sessions
  add column clock_ms integer not null default 0 check (clock_ms >= 0),
  add column pending_reports jsonb,
  add column settle_at timestamptz;
create index ad_sessions_to_settle on ad_sessions (settle_at) where settle_at is not null;
`;
