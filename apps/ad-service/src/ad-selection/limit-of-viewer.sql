-- The rule for cooldown and daily cap in the statements of views; `limitOfViewer` is the same rule for clicks. Each function is
-- one expression, which the planner inlines.
-- They are stable, not immutable, because adding an interval to a timestamptz is: otherwise they would not be inlined.

create type viewer_limit as (
  -- 'cooldown' or 'daily-cap'; null if the viewer may earn.
  reason text,
  -- When the limit ends.
  available_at timestamptz
);

-- Clocks may differ by a minute. A stored time further ahead is a wrong clock's: null, so that it locks nobody out until then.
create function plausible_time(stored timestamptz, moment timestamptz) returns timestamptz language sql stable
return case when stored <= moment + interval '1 minute' then stored end;

-- The same for a day.
create function plausible_day(stored date, moment timestamptz) returns date language sql stable
return case when stored <= ((moment + interval '1 minute') at time zone 'utc')::date + 1 then stored end;

-- What counts towards the cap at a moment; 0 without a row. A `day` just ahead counts too: a clock that steps back over
-- midnight does not start a day again.
create function earned_on_day(day date, earned_today integer, moment timestamptz) returns integer language sql stable
return case when plausible_day(day, moment) >= (moment at time zone 'utc')::date then earned_today else 0 end;

-- Null if there is no cooldown: then a time that another node's clock dated ahead does not delay the viewer.
create function cooldown_end(
  last_earned_at timestamptz, last_active_at timestamptz, cooldown_seconds integer, moment timestamptz
) returns timestamptz language sql stable
return case when cooldown_seconds > 0
  then greatest(plausible_time(last_earned_at, moment), plausible_time(last_active_at, moment))
    + make_interval(secs => cooldown_seconds) end;

/*
 * Whether a viewer may earn at a moment. Call it when an ad is opened, when playback starts, and, under the lock of the
  * viewer's row, with the change that earns. `day`, `earned_today` and `last_earned_at` are the viewer's, null without a row.
  * `unfinished`, `last_active_at` and `first_deadline` describe the viewer's other views that began and may still earn, which
  * count as if they had earned: their number, the latest activity, and when the first of them can no longer earn. A statement
  * that pays for a view passes only their number.
 */
create function limit_of_viewer(
  day date, earned_today integer, last_earned_at timestamptz, cooldown_seconds integer, daily_cap integer,
  unfinished integer, last_active_at timestamptz, first_deadline timestamptz, moment timestamptz
) returns viewer_limit language sql stable
return row(
  case
    when earned_on_day(day, earned_today, moment) + unfinished >= daily_cap then 'daily-cap'
    when cooldown_end(last_earned_at, last_active_at, cooldown_seconds, moment) > moment then 'cooldown'
  end,
  case
    when earned_on_day(day, earned_today, moment) + unfinished >= daily_cap then greatest(
      cooldown_end(last_earned_at, last_active_at, cooldown_seconds, moment),
      least(
        (date_trunc('day', moment at time zone 'utc') + interval '1 day') at time zone 'utc',
        case when earned_on_day(day, earned_today, moment) < daily_cap then first_deadline end
      )
    )
    when cooldown_end(last_earned_at, last_active_at, cooldown_seconds, moment) > moment
      then cooldown_end(last_earned_at, last_active_at, cooldown_seconds, moment)
  end
)::viewer_limit;

-- A viewer's views that began and may still earn, except the view of one code. A code lives at most 24 h and a session only
-- minutes longer than its code, which bounds what is read. The order selects the index of the user's sessions, also in a plan
-- that was made while the table was empty.
create function unfinished_views(bot_id text, user_id text, code text, moment timestamptz)
returns table (count integer, last_active_at timestamptz, first_deadline timestamptz) language sql stable
begin atomic
  select count(*)::integer, max(coalesce(last_report_at, started_at)), min(deadline)
  from (
    select * from ad_sessions
    where ad_sessions.bot_id = unfinished_views.bot_id and ad_sessions.user_id = unfinished_views.user_id
      and opened_at > moment - interval '25 hours'
    order by opened_at desc offset 0
  ) as of_user
  where of_user.code <> unfinished_views.code and deadline > moment and state in ('playing', 'watched')
    and plausible_time(opened_at, moment) is not null;
end;
