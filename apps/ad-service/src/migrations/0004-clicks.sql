-- The function of the statement that writes judged clicks (record-clicks.ts).

-- Records visits that were not paid: each array has one element per visit. Most batches have none, and a function whose
-- statements are not run costs nothing.
create function record_unpaid_clicks(
  bot_ids text[], link_codes text[], event_ids text[], user_ids text[], code_references text[], moments timestamptz[],
  audiences text[], campaign_ids text[], outcomes text[], suspicions text[], agents text[], address_hashes bytea[], network_hashes bytea[]
) returns void language plpgsql as $$
declare
  few text[];
begin
  -- Clicks that look suspicious. The user's next request gets another code.
  if 'held' = any (outcomes) or 'suspicious' = any (outcomes) then
    insert into withheld_clicks (bot_id, click_id, code, user_id, campaign_id, outcome, user_agent, address_hash,
      network_hash, audience, suspicions, occurred_at)
    select bot_ids[n], 'clk_' || substr(event_ids[n], 5), link_codes[n], user_ids[n], campaign_ids[n],
      case outcomes[n] when 'held' then 'held' else 'refused' end, agents[n], address_hashes[n], network_hashes[n], audiences[n],
      string_to_array(suspicions[n], ' '), moments[n]
    from generate_subscripts(outcomes, 1) as n where outcomes[n] in ('held', 'suspicious');
    update current_codes set is_withheld = true
    from (
      select n from generate_subscripts(outcomes, 1) as n where outcomes[n] in ('held', 'suspicious') offset 0
    ) as looks_wrong
    where current_codes.bot_id = bot_ids[n] and current_codes.user_id = user_ids[n]
      and current_codes.reference = coalesce(code_references[n], '') and current_codes.code = link_codes[n];
  end if;

  -- Visitors cause these counts, so they are bounded by codes, reasons and quarters of an hour.
  with counts as (
    insert into click_refusals (bot_id, code, reason, quarter, count)
    select bot_ids[n], link_codes[n], outcomes[n], date_bin('15 minutes', moments[n], 'epoch'), count(*)
    from generate_subscripts(outcomes, 1) as n group by 1, 2, 3, 4 order by 4, 1, 2, 3
    on conflict (bot_id, code, reason, quarter) do update set
      count = click_refusals.count + excluded.count, is_summed = false
    returning code || ' ' || reason as key, count
  )
  select array_agg(key) into few from counts where count < 5 + cardinality(outcomes);
  -- The first five visits of each code and reason are stored in full; concurrent nodes may store a few more.
  insert into withheld_clicks (bot_id, click_id, code, user_id, outcome, user_agent, address_hash, occurred_at)
  select bot_ids[n], 'clk_' || substr(event_ids[n], 5), link_codes[n], user_ids[n], outcomes[n], agents[n],
    address_hashes[n], moments[n]
  from (
    select n, row_number() over (partition by bot_ids[n], link_codes[n], outcomes[n] order by moments[n]) as position
    from generate_subscripts(outcomes, 1) as n
    where outcomes[n] not in ('held', 'suspicious') and link_codes[n] || ' ' || outcomes[n] in (select unnest(few))
  ) as visit
  where position + (
    select count(*) from (
      select from withheld_clicks where withheld_clicks.bot_id = bot_ids[n] and withheld_clicks.code = link_codes[n]
        and withheld_clicks.outcome = outcomes[n] limit 5
    ) as kept
  ) <= 5;
end
$$;

-- Adds users to the networks of clicks that count, where these are stored (clicks/network-users.ts). Without a comparison,
-- because many visitors of one network come at the same time: visits that several nodes judge at the same time may together
-- pass a bound of the network.
create function add_network_users(
  bot_ids text[], networks bytea[], moments timestamptz[], added integer[], minutes timestamptz[], added_of_minute integer[]
) returns void language plpgsql as $$
begin
  insert into network_days (day, bot_id, network, users, minute, minute_users)
  select (moments[n] at time zone 'utc')::date, bot_ids[n], networks[n], sum(added[n]), max(minutes[n]), sum(added_of_minute[n])
  from generate_subscripts(networks, 1) as n group by 1, 2, 3 order by 1, 2, 3
  on conflict (day, bot_id, network) do update set users = network_days.users + excluded.users,
    minute = greatest(network_days.minute, excluded.minute),
    minute_users = excluded.minute_users
      + case when network_days.minute >= excluded.minute then network_days.minute_users else 0 end;
end
$$;

-- For bots that pay a code once, of clicks that are paid or held and so have spent it: a view that began with the code, and may still earn, goes on with a
-- code of its own.
create function move_views(bot_ids text[], link_codes text[], new_codes text[], moments timestamptz[])
returns void language plpgsql as $$
begin
  with moved as (
    update views set code = new_codes[n], reference = '', version = version + 1
    from generate_subscripts(link_codes, 1) as n
    where views.bot_id = bot_ids[n] and views.code = link_codes[n]
      and state in ('opened', 'playing', 'watched', 'held')
    returning views.bot_id, views.code, views.user_id, moments[n] as moment, deadline
  )
  insert into codes (bot_id, code, user_id, issued_at, expires_at)
  select bot_id, code, user_id, moment, deadline from moved;
end
$$;
