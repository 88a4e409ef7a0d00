-- One call follows the links of a batch of visits: it judges each, counts those that earn, and records why the others do not.

-- The body of a webhook: the bytes of encodeWebhookEvent (ad-core), for events whose user and reference only the database
-- knows. The reference alone may hold characters that JSON escapes; without one it is null.
create function webhook_body(
  event text, event_id text, bot_id text, user_id text, code text, reference text, occurred_at text, is_test boolean
) returns text language sql stable
return '{"event":"' || event || '","event_id":"' || event_id || '","bot_id":"' || bot_id || '","user_tg_id":"' || user_id
  || '","code":"' || code || '"' || coalesce(',"reference":' || to_json(reference)::text, '')
  || ',"occurred_at":"' || occurred_at || case when is_test then '","test":true}' else '"}' end;

/*
 * Each array has one element for each visit, in the order of `address_hashes`. `times` are RFC 3339; `refusals` says why a
 * visit earns nothing whatever its code is (a machine), `doubts` why it needs a tap, `taps` that it is one; `campaign_ids` is
 * the ad that was chosen for it, null for none; `near_limit` says that so few of this ad are left that it must be counted by
 * itself. Hashes of addresses and networks are keyed by the day (UTC), `agent_keys` are of address and user agent.
 *
 * Gives a row for each visit. `outcome` is one of
 *   counted, held, suspicious: it leads to its ad, and is paid; or is held back or refused, since it looks wrong;
 *   used: its code led to `campaign_id` before (null: to an ad that cost nothing);
 *   cooldown, daily-cap: until `available_at`;
 *   again: another visit of its viewer or its address came first, follow it once more;
 *   near-limit, user-cap: all but this speaks for it; nothing was decided;
 *   or the reason why it earned nothing: unknown-code, expired, bot-suspended, no-ad, address-limit, tap-asked-…, machine-….
 * And a row with `url` and `body` for each event that was claimed for this node, to be sent at once.
 *
 * Locks are taken in this order, each kind in the order of its keys, so that batches never wait in a ring: viewers, addresses,
 * new viewers, new addresses, networks, days of campaigns, counts of refusals. Each statement in here sees what was committed
 * before it began: what is read under the viewer's lock is final. A viewer or an address without a row is locked by making
 * it. At most one visit of a viewer is counted in a call.
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
  days date[];
  user_ids text[];
  code_references text[];
  issue_times timestamptz[];
  expiry_times timestamptz[];
  -- What is decided, by visit.
  outcomes text[] := refusals;
  availables timestamptz[] := array_fill(null::timestamptz, array[number]);
  used_campaigns text[] := array_fill(null::text, array[number]);
  prices bigint[] := array_fill(null::bigint, array[number]);
  tests boolean[] := array_fill(false, array[number]);
  devices bigint[] := array_fill(null::bigint, array[number]);
  suspicions text[] := array_fill(null::text, array[number]);
  -- Visits that use up what their viewers and addresses may have.
  admitted integer[] := '{}';
  viewers_admitted text[] := '{}';
  new_viewers integer[] := '{}';
  known_viewers integer[] := '{}';
  -- The first clicks of addresses without a row; the others' rows as they become.
  new_addresses integer[] := '{}';
  changed_addresses address_days[] := '{}';
  -- The row of the address that is being judged.
  address address_days;
  is_in_changed boolean;
  recent timestamptz[];
  viewers_made integer;
  addresses_made integer;
  lost integer[];
  lost_addresses bytea[];
  n integer;
  paid integer[];
  withheld integer[];
  not_paid integer[];
  few text[];
  claimed_events text[];
  claimed_urls text[];
  claimed_modes text[];
  v record;
begin
  select array_agg((moments[n] at time zone 'utc')::date), array_agg(user_id), array_agg(reference), array_agg(issued_at),
    array_agg(expires_at)
  into days, user_ids, code_references, issue_times, expiry_times
  from (
    select n, code.* from generate_series(1, number) as n
    left join lateral (
      select user_id, nullif(reference, '') as reference, issued_at, expires_at from codes
      where codes.bot_id = bot_ids[n] and codes.code = link_codes[n] limit 1
    ) as code on true
    order by n offset 0
  ) as found;

  perform from (
    select n from generate_series(1, number) as n where refusals[n] is null and user_ids[n] is not null
    order by bot_ids[n], user_ids[n] offset 0
  ) as asked
  cross join lateral (
    select from viewers where viewers.bot_id = bot_ids[n] and viewers.user_id = user_ids[n] for update
  ) as locked;

  for v in
    select n, address.clicks, address.counted, address.tapped, address.devices, before.clicks as clicks_before,
      viewer.day is null as is_new_viewer, user_ids[n] = any (testers) as is_test, suspicious_clicks,
      click_price_micros as price,
      case when earned.price_micros is not null then earned.campaign_id else withheld.campaign_id end as used_campaign,
      (limit_of_viewer(viewer.day, earned_today, last_earned_at, cooldown_seconds, daily_cap, unfinished.count,
        last_active_at, first_deadline, moments[n])).available_at,
      network.is_crowded,
      case
        when earned.event_id is not null or withheld.click_id is not null then 'used'
        when expiry_times[n] <= moments[n] then 'expired'
        when is_suspended then 'bot-suspended'
        when (limit_of_viewer(viewer.day, earned_today, last_earned_at, cooldown_seconds, daily_cap, unfinished.count,
          last_active_at, first_deadline, moments[n])).reason is not null
        then (limit_of_viewer(viewer.day, earned_today, last_earned_at, cooldown_seconds, daily_cap, unfinished.count,
          last_active_at, first_deadline, moments[n])).reason
        when campaign_ids[n] is null then 'no-ad'
        when user_cap is not null and (
          select count(*) from (
            (select from events where events.bot_id = bot_ids[n] and events.user_id = user_ids[n]
              and occurred_at > moments[n] - make_interval(secs => user_cap_seconds) and price_micros is not null
              and events.campaign_id = campaign_ids[n] order by occurred_at desc limit user_cap)
            union all
            (select from ad_sessions where ad_sessions.bot_id = bot_ids[n] and ad_sessions.user_id = user_ids[n]
              and opened_at > moments[n] - make_interval(secs => user_cap_seconds)
              and state in ('playing', 'watched', 'held') and ad_sessions.campaign_id = campaign_ids[n]
              order by opened_at desc limit user_cap)
          ) as seen
        ) >= user_cap then 'user-cap'
        when user_ids[n] = any (user_ids[: n - 1]) then 'maybe-again'
      end as reason
    from (
      select n from generate_series(1, number) as n where refusals[n] is null and user_ids[n] is not null
      order by n offset 0
    ) as asked
    cross join lateral (
      select testers, is_suspended, cooldown_seconds, daily_cap, suspicious_clicks from bots
      where bots.bot_id = bot_ids[n] limit 1
    ) as bot
    left join lateral (
      select event_id, campaign_id, price_micros from events
      where events.bot_id = bot_ids[n] and events.code = link_codes[n] and event = 'direct_link' limit 1
    ) as earned on true
    left join lateral (
      select click_id, campaign_id from withheld_clicks
      where withheld_clicks.bot_id = bot_ids[n] and withheld_clicks.code = link_codes[n]
        and withheld_clicks.outcome in ('held', 'refused', 'released') limit 1
    ) as withheld on true
    left join lateral (
      select day, earned_today, last_earned_at from viewers
      where viewers.bot_id = bot_ids[n] and viewers.user_id = user_ids[n] limit 1
    ) as viewer on true
    cross join lateral (
      select * from unfinished_views(bot_ids[n], user_ids[n], link_codes[n], moments[n])
    ) as unfinished
    left join lateral (
      select clicks from address_days
      where address_days.day = days[n] - 1 and address_days.address_hash = hashes_before[n] limit 1
    ) as before on true
    left join lateral (
      select is_crowded from network_days
      where network_days.day = days[n] and network_days.network_hash = network_hashes[n] limit 1
    ) as network on true
    left join lateral (
      select click_price_micros, user_cap, user_cap_seconds from campaigns
      where campaigns.campaign_id = campaign_ids[n] limit 1
    ) as campaign on true
    -- The row as it is when its lock is had.
    left join lateral (
      select clicks, counted, tapped, devices from address_days
      where address_days.day = days[n] and address_days.address_hash = address_hashes[n] for update
    ) as address on true
  loop
    if v.reason is not null then
      if v.reason <> 'maybe-again' then
        outcomes[v.n] := v.reason;
        if v.reason = 'used' then
          used_campaigns[v.n] := v.used_campaign;
        else
          availables[v.n] := v.available_at;
        end if;
        continue;
      end if;
      if bot_ids[v.n] || ' ' || user_ids[v.n] = any (viewers_admitted) then
        outcomes[v.n] := 'again';
        continue;
      end if;
    end if;

    if address_hashes[v.n] is distinct from address.address_hash then
      address := row(days[v.n], address_hashes[v.n], v.clicks, coalesce(v.counted, 0), v.tapped, v.devices);
      is_in_changed := false;
    end if;
    if address.counted >= most_of_address then
      outcomes[v.n] := 'address-limit';
      continue;
    end if;
    if not taps[v.n] then
      recent := address.clicks || v.clicks_before;
      if doubts[v.n] is not null
        or recent[1] > moments[v.n] - interval '1 minute' or recent[3] > moments[v.n] - interval '10 minutes'
        or recent[10] > moments[v.n] - interval '1 hour' or recent[25] > moments[v.n] - interval '24 hours'
      then
        outcomes[v.n] := 'tap-asked-' || coalesce(doubts[v.n], 'address');
        continue;
      end if;
    end if;
    if near_limit[v.n] and not v.is_test then
      outcomes[v.n] := 'near-limit';
      continue;
    end if;

    outcomes[v.n] := 'counted';
    admitted := admitted || v.n;
    viewers_admitted := viewers_admitted || (bot_ids[v.n] || ' ' || user_ids[v.n]);
    if v.is_new_viewer then
      new_viewers := new_viewers || v.n;
    else
      known_viewers := known_viewers || v.n;
    end if;
    if v.is_test then
      tests[v.n] := true;
      continue;
    end if;
    prices[v.n] := v.price;
    devices[v.n] := (agent_keys[v.n]::bigint << 32)
      | (hashtextextended(bot_ids[v.n] || ' ' || user_ids[v.n], agent_keys[v.n]) & 4294967295);
    if address.counted = 0 and v.counted is null then
      new_addresses := new_addresses || v.n;
      address.clicks := array[moments[v.n]];
      address.tapped := taps[v.n]::integer;
      address.devices := array[devices[v.n]];
      address.counted := 1;
    else
      address.clicks := (moments[v.n] || address.clicks)[1 : 25];
      address.tapped := address.tapped + taps[v.n]::integer;
      if not devices[v.n] = any (address.devices) then
        address.devices := (devices[v.n] || address.devices)[1 : 100];
      end if;
      address.counted := address.counted + 1;
      if is_in_changed then
        changed_addresses[cardinality(changed_addresses)] := address;
      else
        changed_addresses := changed_addresses || address;
        is_in_changed := true;
      end if;
      if cardinality(address.devices) > 5
        and (select count(*) > 5 from unnest(address.devices) as one where one >> 32 = agent_keys[v.n]) then
        suspicions[v.n] := 'many-users-of-one-agent';
      end if;
      if address.tapped >= 10 and address.tapped * 5 >= address.counted * 4 then
        suspicions[v.n] := concat_ws(' ', suspicions[v.n], 'mostly-taps');
      end if;
    end if;
    if v.is_crowded then
      suspicions[v.n] := concat_ws(' ', suspicions[v.n], 'crowded-network');
    end if;
    if moments[v.n] - issue_times[v.n] < interval '1 second' then
      suspicions[v.n] := concat_ws(' ', suspicions[v.n], 'right-after-issue');
    end if;
    if suspicions[v.n] is not null and v.suspicious_clicks <> 'pay' then
      outcomes[v.n] := case v.suspicious_clicks when 'hold' then 'held' else 'suspicious' end;
    end if;
  end loop;

  if cardinality(admitted) > 0 then
    insert into viewers (bot_id, user_id, day, earned_today, last_earned_at)
    select bot_ids[n], user_ids[n], days[n], 1, moments[n] from unnest(new_viewers) as n
    order by 1, 2 on conflict do nothing;
    get diagnostics viewers_made = row_count;
    insert into address_days (day, address_hash, clicks, counted, tapped, devices)
    select days[n], address_hashes[n], array[moments[n]], 1, taps[n]::integer, array[devices[n]]
    from unnest(new_addresses) as n order by 1, 2 on conflict do nothing;
    get diagnostics addresses_made = row_count;

    if viewers_made < cardinality(new_viewers) or addresses_made < cardinality(new_addresses) then
      -- Another node made some of these rows meanwhile. Their visits are put off, with all others of the same addresses.
      lost_addresses := array(
        select address_hashes[n] from unnest(new_viewers) as n where (
          select xmin from viewers where viewers.bot_id = bot_ids[n] and viewers.user_id = user_ids[n]
        ) is distinct from pg_current_xact_id()::xid
        union all
        select address_hashes[n] from unnest(new_addresses) as n where (
          select xmin from address_days where address_days.day = days[n] and address_days.address_hash = address_hashes[n]
        ) is distinct from pg_current_xact_id()::xid
      );
      lost := array(select n from unnest(admitted) as n where address_hashes[n] = any (lost_addresses));
      delete from viewers using unnest(new_viewers) as n
      where viewers.bot_id = bot_ids[n] and viewers.user_id = user_ids[n] and n = any (lost)
        and viewers.xmin = pg_current_xact_id()::xid;
      delete from address_days using unnest(new_addresses) as n
      where address_days.day = days[n] and address_days.address_hash = address_hashes[n] and n = any (lost)
        and address_days.xmin = pg_current_xact_id()::xid;
      admitted := array(select n from unnest(admitted) as n where n <> all (lost));
      known_viewers := array(select n from unnest(known_viewers) as n where n <> all (lost));
      changed_addresses := array(
        select changed from unnest(changed_addresses) as changed where changed.address_hash <> all (lost_addresses)
      );
      foreach n in array lost loop
        outcomes[n] := 'again';
      end loop;
    end if;
  end if;

  if cardinality(known_viewers) > 0 then
    update viewers set earned_today = 1 + earned_on_day(viewers.day, earned_today, moments[n]),
      day = greatest(viewers.day, days[n]), last_earned_at = greatest(last_earned_at, moments[n])
    from (select n from unnest(known_viewers) as n offset 0) as earned
    where viewers.bot_id = bot_ids[n] and viewers.user_id = user_ids[n];
  end if;
  if cardinality(changed_addresses) > 0 then
    update address_days set clicks = changed.clicks, counted = changed.counted, tapped = changed.tapped,
      devices = changed.devices
    from (select * from unnest(changed_addresses) offset 0) as changed
    where address_days.day = changed.day and address_days.address_hash = changed.address_hash;
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
      -- Counted anew with each tenth click: it takes longer than all the rest.
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
      agents[n], address_hashes[n], case when not tests[n] then network_hashes[n] end, string_to_array(suspicions[n], ' ')
    from unnest(paid) as n;

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
        when (select state from endpoints where endpoints.bot_id = bot_ids[n]) = 'active' then 'waiting'
        -- Its endpoint is missing or not active: it goes out once that is.
        else 'held' end,
      is_claimed::integer, is_claimed::integer,
      case when is_claimed then clock_timestamp() + make_interval(secs => lease_seconds) end
    from (
      select n, event_ids[n] in (select unnest(claimed_events)) as is_claimed from unnest(paid) as n offset 0
    ) as made;

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
    -- The counts are of visitors' making: they are bounded by codes, reasons and hours.
    with counts as (
      insert into click_refusals (bot_id, code, reason, hour, count)
      select bot_ids[n], link_codes[n], outcomes[n], date_trunc('hour', moments[n], 'UTC'), count(*)
      from unnest(not_paid) as n group by 1, 2, 3, 4 order by 4, 1, 2, 3
      on conflict (bot_id, code, reason, hour) do update set
        count = click_refusals.count + excluded.count, is_summed = false
      returning code || ' ' || reason as key, count
    )
    select array_agg(key) into few from counts where count < 5 + number;
    -- The first five of each code and reason are kept in full; in the moment of their making two nodes may keep a few more.
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
