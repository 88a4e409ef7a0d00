-- A viewer's views that began and may still earn, except the view of one code. A code lives at most 24 h and a view only
-- minutes longer than its code, which bounds what is read: the caller names the first and the last possible code. The order
-- selects the index of the user's views, also in a plan that was made while the table was empty.
create function unfinished_views(bot_id text, user_id text, code text, moment timestamptz, first_code text, last_code text)
returns table (count integer, last_active_at timestamptz, first_deadline timestamptz) language sql stable
begin atomic
  select count(*)::integer, max(coalesce(last_report_at, started_at)), min(deadline)
  from (
    select * from views
    where views.bot_id = unfinished_views.bot_id and views.user_id = unfinished_views.user_id
      and opened_at > moment - interval '25 hours' and views.code between first_code and last_code
    order by opened_at desc offset 0
  ) as of_user
  where of_user.code <> unfinished_views.code and deadline > moment and state in ('playing', 'watched')
    -- Clocks may differ by a minute: a view that is dated further ahead is a wrong clock's.
    and opened_at <= moment + interval '1 minute';
end;
