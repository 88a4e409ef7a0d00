/**
 * Refused clicks as counts; what one address did on a day, whose limits are decided under the lock of that row; clicks that
 * look wrong, and what becomes of them; charges that are given back.
 */
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

-- One row for each address and day (UTC). The hash is keyed by the day, so rows of two days cannot be told to be of one
-- address. Kept for two days.
create table address_days (
  address_hash bytea primary key,
  day date not null,
  -- When clicks counted, the newest first, as many as the limits look at.
  clicks timestamptz[] not null,
  counted integer not null,
  -- Of the counted ones, those by a tap on our page.
  tapped integer not null,
  -- Which users came with which user agent: 'agent user', shortened hashes, the newest first.
  devices text[] not null
) with (fillfactor = 70);
create index address_days_by_day on address_days (day);
insert into address_days
  select address_hash, (occurred_at at time zone 'utc')::date, (array_agg(occurred_at order by occurred_at desc))[1:25],
    count(*), 0, '{}'
  from clicks where outcome = 'counted' and address_hash is not null and occurred_at > now() - interval '2 days'
  group by 1, 2 on conflict do nothing;
drop index clicks_of_address;

alter table clicks
  add column network_hash bytea,
  add column suspicions text[] not null default '{}',
  add column decided_at timestamptz;
create index clicks_of_network on clicks (network_hash, occurred_at desc) where network_hash is not null;
create index clicks_suspicious on clicks (occurred_at desc, click_id) where suspicions <> '{}';
-- A click that was held, or refused for looking wrong, is the only one of its code.
create unique index clicks_withheld on clicks (bot_id, code) where outcome in ('held', 'refused');

alter table bots add column suspicious_clicks text not null default 'pay'
  check (suspicious_clicks in ('pay', 'hold', 'refuse'));

-- Charges that were given back, each whole and once. Append-only, like the charges themselves.
create table refunds (
  charge_id text primary key,
  campaign_id text not null,
  creative_id text,
  bot_id text not null,
  format text not null check (format in ('rewarded', 'direct_link')),
  code text not null,
  price_micros bigint not null check (price_micros >= 0),
  charged_at timestamptz not null,
  occurred_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id()
);
create index refunds_in_commit_order on refunds (xid);
create index refunds_of_code on refunds (bot_id, code, format);
insert into stats_progress (source) values ('refunds');

/*
 * Which clicks their addresses still admit. They come in the order of the address hashes, so that two batches never wait for
 * one another, and are judged one after the other: each counts for the next. The rows stay locked until the batch commits, so
 * a burst passes no limit, on several nodes either. Around midnight the day before is looked at without its lock.
 *
 * Gives for each position: null where it was not asked for, 0 where the address refuses, else 1, plus 2 when more than
 * \`most_users\` users came from this address with this user agent, plus 4 when most clicks of this address were taps.
 */
create function admit_clicks(
  positions integer[], hashes bytea[], hashes_before bytea[], moments timestamptz[], taps boolean[],
  agents text[], users text[], most integer, limit_clicks integer[], limit_seconds integer[],
  most_users integer, least_taps integer
) returns integer[] language plpgsql as $$
declare
  -- Looked up at once, so that an address that comes for the first time costs one statement, not three.
  known bytea[] := array(select address_hash from address_days where address_hash = any (hashes) order by address_hash);
  known_before bytea[] := array(select address_hash from address_days where address_hash = any (hashes_before));
  next_known integer := 1;
  address address_days;
  before timestamptz[];
  recent timestamptz[];
  device text;
  is_known boolean;
  is_over boolean;
  verdict integer;
  verdicts integer[] := '{}';
  first integer := 1;
  last integer;
begin
  while first <= cardinality(hashes) loop
    last := first;
    while hashes[last + 1] = hashes[first] loop
      last := last + 1;
    end loop;
    before := null;
    if hashes_before[first] = any (known_before) then
      select clicks into before from address_days where address_hash = hashes_before[first];
    end if;
    while known[next_known] < hashes[first] loop
      next_known := next_known + 1;
    end loop;
    is_known := coalesce(known[next_known] = hashes[first], false);
    loop
      if is_known then
        select * into address from address_days where address_hash = hashes[first] for update;
        is_known := found;
      end if;
      if not is_known then
        address := row(hashes[first], (moments[first] at time zone 'utc')::date, '{}', 0, 0, '{}');
      end if;
      for n in first .. last loop
        verdicts[positions[n]] := 0;
        continue when address.counted >= most;
        recent := address.clicks || before;
        is_over := false;
        if not taps[n] and recent[1] is not null then
          for l in 1 .. cardinality(limit_clicks) loop
            is_over := is_over
              or coalesce(recent[limit_clicks[l]] > moments[n] - make_interval(secs => limit_seconds[l]), false);
          end loop;
        end if;
        continue when is_over;
        verdict := 1;
        address.clicks := (array[moments[n]] || address.clicks)[1 : limit_clicks[cardinality(limit_clicks)]];
        address.counted := address.counted + 1;
        address.tapped := address.tapped + taps[n]::integer;
        device := agents[n] || ' ' || users[n];
        if not device = any (address.devices) then
          address.devices := (array[device] || address.devices)[1 : 100];
        end if;
        if cardinality(address.devices) > most_users and (
          select count(*) from unnest(address.devices) as seen where starts_with(seen, agents[n] || ' ')
        ) > most_users then
          verdict := verdict + 2;
        end if;
        if address.tapped >= least_taps and address.tapped * 5 >= address.counted * 4 then
          verdict := verdict + 4;
        end if;
        verdicts[positions[n]] := verdict;
      end loop;
      if is_known then
        update address_days set clicks = address.clicks, counted = address.counted, tapped = address.tapped,
          devices = address.devices where address_hash = address.address_hash;
        exit;
      end if;
      insert into address_days values (address.*) on conflict do nothing;
      exit when found;
      -- Another node made the row at this moment: it is judged again, on what that one counted.
      is_known := true;
    end loop;
    first := last + 1;
  end loop;
  return verdicts;
end
$$;
`;
