/** Refused clicks as counts. */
export const migration = `
-- Refused visits of direct links. Counted here, since anybody with a link can cause any number of them; the first few of
-- a code and reason are also kept in full, in \`clicks\`. \`summed\` is how many of them the statistics hold.
create table click_refusals (
  bot_id text not null,
  code text not null,
  reason text not null,
  hour timestamptz not null,
  count bigint not null check (count > 0),
  summed bigint not null default 0,
  is_summed boolean not null default false,
  primary key (bot_id, code, reason, hour)
) with (fillfactor = 70);
-- Its condition stays true while a row is counted up, so that those updates touch no index.
create index click_refusals_to_sum on click_refusals (hour, bot_id, code, reason) where not is_summed;
create index click_refusals_by_hour on click_refusals using brin (hour) with (pages_per_range = 32);

-- What was counted by rows so far goes on as counts.
insert into click_refusals (bot_id, code, reason, hour, count, summed, is_summed)
  select bot_id, code, outcome, date_trunc('hour', occurred_at, 'UTC'), count(*),
    count(*) filter (where clicks.xid < stats_progress.xid), bool_and(clicks.xid < stats_progress.xid)
  from clicks, stats_progress where outcome not in ('counted', 'test') and source = 'clicks'
  group by 1, 2, 3, 4;
drop index clicks_refused_in_commit_order;
alter table clicks drop column xid;
create index clicks_by_time on clicks using brin (occurred_at) with (pages_per_range = 32);
`;
