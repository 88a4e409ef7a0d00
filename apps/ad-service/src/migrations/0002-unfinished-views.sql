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

-- Views that lost their viewer's clock to a later view, and are locked: what the players read of them is no longer true.
create function end_clock_holders(bot_ids text[], holders text[]) returns void language plpgsql as $$
begin
  update views set version = version + 1 from generate_subscripts(holders, 1) as n
  where views.bot_id = bot_ids[n] and views.view_id = holders[n]
    and views.code >= week_of_view(holders[n]) and views.code < week_of_view(holders[n]) || '~';
end
$$;

-- Codes of views that were held or refused: the user's next request gets another code.
create function withhold_codes(bot_ids text[], user_ids text[], code_references text[], spent_codes text[])
returns void language plpgsql as $$
begin
  update current_codes set is_withheld = true from generate_subscripts(spent_codes, 1) as n
  where current_codes.bot_id = bot_ids[n] and current_codes.user_id = user_ids[n]
    and current_codes.reference = code_references[n] and current_codes.code = spent_codes[n];
end
$$;
