-- Follows the links of a batch of visits: judges each, counts those that earn, and records why the others do not.

-- The body of a webhook: the bytes of encodeWebhookEvent (ad-core), for events whose user and reference only the
-- database knows. Only the reference may contain characters that JSON escapes; it is null if there is none.
create function webhook_body(
  event text, event_id text, bot_id text, user_id text, code text, reference text, occurred_at text, is_test boolean
) returns text language sql stable
return '{"event":"' || event || '","event_id":"' || event_id || '","bot_id":"' || bot_id || '","user_tg_id":"' || user_id
  || '","code":"' || code || '"' || coalesce(',"reference":' || to_json(reference)::text, '')
  || ',"occurred_at":"' || occurred_at || case when is_test then '","test":true}' else '"}' end;

/*
 * Each array has one element per visit, in the order of `address_hashes`; no address occurs twice. `times` are RFC 3339;
 * `refusals` is why a visit earns nothing regardless of its code (a machine), `doubts` why it needs a tap, `taps` whether it
 * is a tap; `campaign_ids` is the ad that was chosen for it, null for none; `near_limit` is true if so little of this ad's
 * limit is left that the visit must be counted alone. Hashes of addresses and networks are keyed by the day (UTC);
 * `agent_keys` are of address and user agent.
 *
 * Returns a row for each visit. `outcome` is one of
 *   counted, held, suspicious: it leads to its ad, and is paid; or is held or refused, since it looks suspicious;
 *   used: its code led to `campaign_id` before (null: to an ad that cost nothing);
 *   cooldown, daily-cap: until `available_at`;
 *   again: another visit of its viewer or its address came first; follow the link again;
 *   near-limit, user-cap: this is the only limit in its way; nothing was decided;
 *   or the reason why it earned nothing: unknown-code, expired, bot-suspended, no-ad, address-limit, tap-asked-…, machine-….
 * It also returns a row with `url` and `body` for each event that was claimed for this node, to be sent immediately, and a row
 * for visit 0 if others may wait for a loop.
 *
 * Locks are taken in this order, each kind in the order of its keys, so that batches never deadlock: viewers, addresses,
 * new viewers, new addresses, networks, days of campaigns, counts of refusals. Each statement in here sees what was committed
 * before it began: what is read under the viewer's lock is final. A viewer or an address without a row is locked by inserting
 * it. At most one visit of a viewer is counted per call.
 *
 * One statement judges all visits; a loop in PL/pgSQL took 50 µs for each.
 */
create function follow_links(
  bot_ids text[], link_codes text[], event_ids text[], times text[], refusals text[], doubts text[], taps boolean[],
  campaign_ids text[], near_limit boolean[], agents text[], agent_keys integer[],
  address_hashes bytea[], hashes_before bytea[], network_hashes bytea[],
  most_of_address integer, slots integer, lease_seconds integer
) returns table (
  visit integer, outcome text, available_at timestamptz, campaign_id text, user_id text, body text, url text,
  delivery_mode text
) language plpgsql as $$
#variable_conflict use_column
declare
  number constant integer := cardinality(link_codes);
  moments constant timestamptz[] := times::timestamptz[];
  -- The visits with their codes, in the order of their viewers.
  found integer[];
  found_users text[];
  found_references text[];
  found_issues timestamptz[];
  found_expiries timestamptz[];
  -- Whether an earlier visit is of the same viewer; visits of machines, which earn nothing, are numbered separately.
  found_repeated boolean[];
  -- The rows of their viewers, read when their locks are acquired.
  found_days date[];
  found_earned integer[];
  found_last_earned timestamptz[];
  -- The decisions, by visit.
  days date[];
  user_ids text[];
  code_references text[];
  outcomes text[];
  availables timestamptz[];
  used_campaigns text[];
  tests boolean[];
  prices bigint[];
  visit_devices bigint[];
  suspicions text[];
  -- The visits that count against the limits of their viewers and addresses.
  admitted integer[];
  new_viewers integer[];
  known_viewers integer[];
  new_addresses integer[];
  known_addresses integer[];
  lost integer[];
  paid integer[];
  withheld integer[];
  not_paid integer[];
  n integer;
  few text[];
  claimed_events text[];
  claimed_urls text[];
  claimed_modes text[];
begin
  select array_agg(n), array_agg(user_id), array_agg(reference), array_agg(issued_at), array_agg(expires_at),
    array_agg(is_repeated), array_agg(day), array_agg(earned_today), array_agg(last_earned_at)
  into found, found_users, found_references, found_issues, found_expiries, found_repeated, found_days, found_earned,
    found_last_earned
  from (
    select n, user_id, reference, issued_at, expires_at,
      row_number() over (partition by bot_ids[n], user_id, refusals[n] is null order by n) > 1 as is_repeated
    from generate_series(1, number) as n
    left join lateral (
      select user_id, nullif(reference, '') as reference, issued_at, expires_at from codes
      where codes.bot_id = bot_ids[n] and codes.code = link_codes[n] limit 1
    ) as code on true
    offset 0
  ) as visit
  left join lateral (
    select day, earned_today, last_earned_at from viewers
    where refusals[n] is null and viewers.bot_id = bot_ids[n] and viewers.user_id = visit.user_id for update
  ) as locked on true;

  select array_agg(visit_day), array_agg(user_id), array_agg(reference), array_agg(available_at), array_agg(used_campaign),
    array_agg(is_test), array_agg(price), array_agg(device), array_agg(suspicion),
    array_agg(
      case when suspicion <> '' and suspicious_clicks = 'hold' then 'held'
        when suspicion <> '' and suspicious_clicks = 'refuse' then 'suspicious'
        else outcome end
    ),
    coalesce(array_agg(n) filter (where outcome = 'counted'), '{}'),
    coalesce(array_agg(n) filter (where outcome = 'counted' and is_new_viewer), '{}'),
    coalesce(array_agg(n) filter (where outcome = 'counted' and not is_new_viewer), '{}'),
    coalesce(array_agg(n) filter (where outcome = 'counted' and not is_test and counted is null), '{}'),
    coalesce(array_agg(n) filter (where outcome = 'counted' and not is_test and counted is not null), '{}')
  into days, user_ids, code_references, availables, used_campaigns, tests, prices, visit_devices, suspicions, outcomes,
    admitted, new_viewers, known_viewers, new_addresses, known_addresses
  from (
    select *,
      case when outcome = 'counted' and not is_test then concat_ws(' ',
        case when cardinality(other_devices) > 4 and (
          select count(*) > 5 from unnest((device || other_devices)[1 : 100]) as one where one >> 32 = agent_keys[n]
        ) then 'many-users-of-one-agent' end,
        case when tapped + taps[n]::integer >= 10 and (tapped + taps[n]::integer) * 5 >= (counted + 1) * 4
          then 'mostly-taps' end,
        case when is_crowded then 'crowded-network' end,
        case when moment - issued_at < interval '1 second' then 'right-after-issue' end
      ) else '' end as suspicion
    from (
      select *, array_remove(known_devices, device) as other_devices,
        case
          when reason is not null then reason
          when counted >= most_of_address then 'address-limit'
          when not taps[n] and doubts[n] is not null then 'tap-asked-' || doubts[n]
          when not taps[n] and (
            recent[1] > moment - interval '1 minute' or recent[3] > moment - interval '10 minutes'
            or recent[10] > moment - interval '1 hour' or recent[25] > moment - interval '24 hours'
          ) then 'tap-asked-address'
          when near_limit[n] and not is_test then 'near-limit'
          when is_repeated then 'again'
          else 'counted'
        end as outcome
      from (
        select n, visit.user_id, reference, issued_at, moment, visit_day, address_hash, device, is_repeated,
          suspicious_clicks, is_crowded, day is null as is_new_viewer, visit.user_id = any (testers) as is_test,
          case when visit.user_id <> all (testers) then price end as price,
          case when earned.event_id is null and withheld.click_id is null then available_at end as available_at,
          case when earned.price_micros is not null then earned.campaign_id else withheld.campaign_id end as used_campaign,
          case
            when visit.user_id is null then 'unknown-code'
            when refusals[n] is not null then refusals[n]
            when earned.event_id is not null or withheld.click_id is not null then 'used'
            when expires_at <= moment then 'expired'
            when is_suspended then 'bot-suspended'
            when viewer_limit.reason is not null then viewer_limit.reason
            when campaign_ids[n] is null then 'no-ad'
            when user_cap is not null and (
              select count(*) from (
                (select from events where events.bot_id = visit.bot_id and events.user_id = visit.user_id
                  and occurred_at > moment - make_interval(secs => user_cap_seconds) and price_micros is not null
                  and events.campaign_id = campaign_ids[n] order by occurred_at desc limit user_cap)
                union all
                (select from ad_sessions where ad_sessions.bot_id = visit.bot_id and ad_sessions.user_id = visit.user_id
                  and opened_at > moment - make_interval(secs => user_cap_seconds)
                  and state in ('playing', 'watched', 'held') and ad_sessions.campaign_id = campaign_ids[n]
                  order by opened_at desc limit user_cap)
              ) as seen
            ) >= user_cap then 'user-cap'
          end as reason
        from (
          select code.*, moments[n] as moment,
            (moments[n] at time zone 'utc')::date as visit_day,
            -- Null if there is nothing to judge, which skips the lookups.
            case when user_id is not null and refusals[n] is null then bot_ids[n] end as bot_id,
            -- A viewer without a row has earned nothing and begun no view.
            case when day is not null and refusals[n] is null then bot_ids[n] end as known_bot_id,
            case when user_id is not null and refusals[n] is null then address_hashes[n] end as address_hash,
            (agent_keys[n]::bigint << 32)
              | (hashtextextended(bot_ids[n] || ' ' || user_id, agent_keys[n]) & 4294967295) as device
          from unnest(found, found_users, found_references, found_issues, found_expiries, found_repeated, found_days,
              found_earned, found_last_earned)
            as code (n, user_id, reference, issued_at, expires_at, is_repeated, day, earned_today, last_earned_at)
          offset 0
        ) as visit
        left join (
          select bot_id, testers, is_suspended, cooldown_seconds, daily_cap, suspicious_clicks from bots
          where bots.bot_id = any (bot_ids) offset 0
        ) as bot on bot.bot_id = visit.bot_id
        left join (
          select campaign_id, click_price_micros as price, user_cap, user_cap_seconds from campaigns
          where campaigns.campaign_id = any (campaign_ids) offset 0
        ) as campaign on campaign.campaign_id = campaign_ids[n]
        left join lateral (
          select event_id, campaign_id, price_micros from events
          where events.bot_id = visit.known_bot_id and events.code = link_codes[n] and event = 'direct_link' limit 1
        ) as earned on true
        left join lateral (
          select click_id, campaign_id from withheld_clicks
          where withheld_clicks.bot_id = visit.known_bot_id and withheld_clicks.code = link_codes[n]
            and withheld_clicks.outcome in ('held', 'refused', 'released') limit 1
        ) as withheld on true
        cross join lateral (
          select * from unfinished_views(visit.known_bot_id, visit.user_id, link_codes[n], moment) offset 0
        ) as unfinished
        cross join lateral (
          select (limit_of_viewer(visit.day, earned_today, last_earned_at, cooldown_seconds, daily_cap, unfinished.count,
            last_active_at, first_deadline, moment)).* offset 0
        ) as viewer_limit
        left join lateral (
          select is_crowded from network_days
          where network_days.day = visit_day and network_days.network_hash = network_hashes[n] limit 1
        ) as network on true
        order by n offset 0
      ) as visit
      -- The row is read when its lock is acquired: locks are taken in the order of the visits.
      left join lateral (
        select clicks, counted, tapped, devices as known_devices from address_days
        where address_days.day = visit_day and address_days.address_hash = visit.address_hash for update
      ) as address on true
      cross join lateral (
        select clicks || (
          select clicks from address_days
          where address_days.day = visit_day - 1 and address_days.address_hash = hashes_before[n]
        ) as recent offset 0
      ) as of_address
      offset 0
    ) as judged
    offset 0
  ) as doubted;

  begin
    insert into viewers (bot_id, user_id, day, earned_today, last_earned_at)
    select bot_ids[n], user_ids[n], days[n], 1, moments[n] from unnest(new_viewers) as n order by 1, 2;
    insert into address_days (day, address_hash, clicks, counted, tapped, devices)
    select days[n], address_hashes[n], array[moments[n]], 1, taps[n]::integer, array[visit_devices[n]]
    from unnest(new_addresses) as n order by 1, 2;
  exception when unique_violation then
    -- Another node inserted one of these rows meanwhile. All visits that need a new row are retried.
    lost := new_viewers || new_addresses;
    foreach n in array lost loop
      outcomes[n] := 'again';
    end loop;
    admitted := array(select n from unnest(admitted) as n where n <> all (lost));
    known_viewers := array(select n from unnest(known_viewers) as n where n <> all (lost));
    known_addresses := array(select n from unnest(known_addresses) as n where n <> all (lost));
  end;

  if cardinality(known_viewers) > 0 then
    update viewers set earned_today = 1 + earned_on_day(viewers.day, earned_today, moments[n]),
      day = greatest(viewers.day, days[n]), last_earned_at = greatest(last_earned_at, moments[n])
    from (select n from unnest(known_viewers) as n offset 0) as earned
    where viewers.bot_id = bot_ids[n] and viewers.user_id = user_ids[n];
  end if;
  if cardinality(known_addresses) > 0 then
    update address_days set clicks = (moments[n] || clicks)[1 : 25], counted = counted + 1,
      tapped = tapped + taps[n]::integer,
      devices = case when visit_devices[n] = any (devices) then devices
        else (visit_devices[n] || devices)[1 : 100] end
    from (select n from unnest(known_addresses) as n offset 0) as earned
    where address_days.day = days[n] and address_days.address_hash = address_hashes[n];
  end if;

  if cardinality(admitted) > 0 then
    insert into network_days (day, network_hash, counted, users)
    select days[n], network_hashes[n], count(*), (array_agg(
        (hashtextextended(bot_ids[n] || ' ' || user_ids[n], 0) % 32768)::smallint order by moments[n] desc
      ))[1 : 100]
    from unnest(admitted) as n where not tests[n]
    group by 1, 2 order by 1, 2
    on conflict (day, network_hash) do update set
      counted = network_days.counted + excluded.counted,
      users = (excluded.users || network_days.users)[1 : 100],
      -- Recomputed with every tenth click: it takes longer than all the rest.
      is_crowded = case
        when (network_days.counted + excluded.counted) / 10 = network_days.counted / 10 then network_days.is_crowded
        else (select count(distinct one) >= 30 from unnest((excluded.users || network_days.users)[1 : 100]) as one)
      end;

    paid := array(select n from unnest(admitted) as n where outcomes[n] = 'counted');
    insert into events (bot_id, event_id, event, user_id, code, reference, is_test, campaign_id, price_micros, occurred_at,
      body, user_agent, address_hash, network_hash, suspicions)
    select bot_ids[n], event_ids[n], 'direct_link', user_ids[n], link_codes[n], code_references[n], tests[n],
      campaign_ids[n], prices[n], moments[n],
      webhook_body('direct_link', event_ids[n], bot_ids[n], user_ids[n], link_codes[n], code_references[n], times[n],
        tests[n]),
      case when is_suspicious then agents[n] end, case when is_suspicious then address_hashes[n] end,
      case when is_suspicious then network_hashes[n] end,
      case when is_suspicious then string_to_array(suspicions[n], ' ') end
    from (select n, suspicions[n] <> '' as is_suspicious from unnest(paid) as n offset 0) as click;

    insert into campaign_days (campaign_id, day, clicks, spent_micros)
    select campaign_ids[n], days[n], count(*), sum(prices[n]) from unnest(paid) as n where prices[n] is not null
    group by 1, 2 order by 1, 2
    on conflict (campaign_id, day) do update set clicks = campaign_days.clicks + excluded.clicks,
      spent_micros = campaign_days.spent_micros + excluded.spent_micros;

    if slots > 0 then
      select array_agg(event_id), array_agg(url), array_agg(delivery_mode)
      into claimed_events, claimed_urls, claimed_modes
      from claim_new_events(
        array(select bot_ids[n] from unnest(paid) as n), array(select event_ids[n] from unnest(paid) as n), slots);
    end if;
    insert into deliveries (bot_id, event_id, state, attempts, fence, lease_until)
    select bot_ids[n], event_ids[n],
      case when is_claimed then 'sending'
        when is_active then 'waiting'
        -- Its endpoint is missing or not active: it is sent once the endpoint is active.
        else 'held' end,
      is_claimed::integer, is_claimed::integer,
      case when is_claimed then clock_timestamp() + make_interval(secs => lease_seconds) end
    from (
      select n, event_ids[n] = any (claimed_events) is true as is_claimed from unnest(paid) as n offset 0
    ) as made
    left join (
      select bot_id, state = 'active' as is_active from endpoints where endpoints.bot_id = any (bot_ids) offset 0
    ) as endpoint on endpoint.bot_id = bot_ids[n];

    if cardinality(paid) < cardinality(admitted) then
      withheld := array(select n from unnest(admitted) as n where outcomes[n] <> 'counted');
      insert into withheld_clicks (bot_id, click_id, code, user_id, campaign_id, outcome, user_agent, address_hash,
        network_hash, suspicions, occurred_at)
      select bot_ids[n], 'clk_' || substr(event_ids[n], 5), link_codes[n], user_ids[n], campaign_ids[n],
        case outcomes[n] when 'held' then 'held' else 'refused' end, agents[n], address_hashes[n], network_hashes[n],
        string_to_array(suspicions[n], ' '), moments[n]
      from unnest(withheld) as n;
      -- The user's next request gets another code.
      update current_codes set is_withheld = true
      from (select n from unnest(withheld) as n offset 0) as looks_wrong
      where current_codes.bot_id = bot_ids[n] and current_codes.user_id = user_ids[n]
        and current_codes.reference = coalesce(code_references[n], '') and current_codes.code = link_codes[n];
    end if;
  end if;

  if cardinality(coalesce(paid, '{}')) < number then
    not_paid := array(
      select n from generate_series(1, number) as n
      where user_ids[n] is not null and outcomes[n] not in ('counted', 'again', 'near-limit', 'user-cap')
    );
    -- Visitors cause these counts, so they are bounded by codes, reasons and hours.
    with counts as (
      insert into click_refusals (bot_id, code, reason, hour, count)
      select bot_ids[n], link_codes[n], outcomes[n], date_trunc('hour', moments[n], 'UTC'), count(*)
      from unnest(not_paid) as n group by 1, 2, 3, 4 order by 4, 1, 2, 3
      on conflict (bot_id, code, reason, hour) do update set
        count = click_refusals.count + excluded.count, is_summed = false
      returning code || ' ' || reason as key, count
    )
    select array_agg(key) into few from counts where count < 5 + number;
    -- The first five visits of each code and reason are stored in full; concurrent nodes may store a few more.
    insert into withheld_clicks (bot_id, click_id, code, user_id, outcome, user_agent, address_hash, occurred_at)
    select bot_ids[n], 'clk_' || substr(event_ids[n], 5), link_codes[n], user_ids[n], outcomes[n], agents[n],
      address_hashes[n], moments[n]
    from (
      select n, row_number() over (partition by bot_ids[n], link_codes[n], outcomes[n] order by moments[n]) as position
      from unnest(not_paid) as n
      where outcomes[n] not in ('held', 'suspicious') and link_codes[n] || ' ' || outcomes[n] in (select unnest(few))
    ) as visit
    where position + (
      select count(*) from (
        select from withheld_clicks where withheld_clicks.bot_id = bot_ids[n] and withheld_clicks.code = link_codes[n]
          and withheld_clicks.outcome = outcomes[n] limit 5
      ) as kept
    ) <= 5;
  end if;

  return query
  select n, case when user_ids[n] is null then 'unknown-code' else outcomes[n] end, availables[n], used_campaigns[n],
    user_ids[n], null::text, null::text, null::text
  from generate_series(1, number) as n;
  if cardinality(paid) > cardinality(coalesce(claimed_events, '{}'))
    and exists (select from endpoints where endpoints.bot_id = any (bot_ids) and state = 'active') then
    return query select 0, null::text, null::timestamptz, null::text, null::text, null::text, null::text, null::text;
  end if;
  if claimed_events is not null then
    return query
    select n, null::text, null::timestamptz, null::text, null::text,
      webhook_body('direct_link', event_ids[n], bot_ids[n], user_ids[n], link_codes[n], code_references[n], times[n],
        tests[n]),
      url, mode
    from (
      select array_position(event_ids, event_id) as n, url, mode
      from unnest(claimed_events, claimed_urls, claimed_modes) as claimed (event_id, url, mode) offset 0
    ) as claimed;
  end if;
end
$$;
