import { crc32 } from "node:zlib";
import { eventIdOfClick } from "@intermission/ad-core/code";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import type { DeliveryMode } from "../bots/bots.ts";
import { type ClaimedEvent, enqueueWebhook, type MadeEvents } from "../deliveries/deliveries.ts";
import type { JudgedVisit } from "./visit.ts";

/** A visit as the statement judges it. */
export interface AskedVisit {
  readonly visit: JudgedVisit;
  /** The ad that was chosen for it. */
  readonly campaignId: string | undefined;
  /** So little of the ad's limit is left that the visit must be counted alone. */
  readonly isNearLimit: boolean;
  readonly isNetworkCrowded: boolean;
}

/**
 * What became of a visit. `outcome` is one of
 * - `counted`, `held`, `suspicious`: it leads to its ad, and is paid; or is held or refused, since it looks suspicious;
 * - `used`: its code led to `usedCampaignId` before (null: to an ad that cost nothing);
 * - `cooldown`, `daily-cap`: until `availableAt`;
 * - `again`: another visit of its viewer or its address came first; follow the link again;
 * - `near-limit`, `user-cap`: this is the only limit in its way; nothing was decided;
 * - or the reason why it earned nothing: `unknown-code`, `expired`, `bot-suspended`, `no-ad`, `address-limit`,
 *   `tap-asked-…`, `machine-…`.
 */
export interface ClickVerdict {
  outcome: string;
  availableAt: Date | null;
  usedCampaignId: string | null;
  userId: string | null;
  isTest: boolean;
}

/**
 * An unpaid or a tester's visit; or, with `positions`, all other paid visits; or, with `url`, a claimed event; or else that
 * events wait.
 */
interface Row extends ClickVerdict {
  position: number;
  /** Of paid visits: their positions and users, separated by blanks. */
  positions: string | null;
  body: string | null;
  url: string | null;
  deliveryMode: DeliveryMode | null;
}

const visitRows = rowParameters({
  ...{
    position: "integer",
    bot_id: "text",
    code: "text",
    event_id: "text",
    occurred_at: "text",
    moment: "timestamptz",
  },
  ...{
    refusal: "text",
    doubt: "text",
    is_tap: "boolean",
    tap_suspicion: "text",
    campaign_id: "text",
    is_near_limit: "boolean",
  },
  ...{ user_agent: "text", agent_key: "integer", is_crowded: "boolean" },
  ...{ address_hash: "bytea", hash_before: "bytea", network_hash: "bytea", spare_code: "text" },
});
/** Counts for the limits of its address and its viewer if nothing came between. */
const mayCount = "outcome in ('counted', 'held', 'suspicious')";
const [mostOfAddress, slots] = [1, 2].map((next) => `$${visitRows.parameters.length + next}::integer`);

/*
 * Follows the links of visits, no two of one address: judges each, counts those that earn, and records why the others do not.
 *
 * It judges by what it reads, and its writes compare: the row of an address or of a viewer that has changed since is not
 * written, and its visit is "again". A known viewer's row is locked when it is read. If it is newer than the statement's
 * snapshot, the visit is "again" before anything is written, since whatever else a visit is judged by changes only together
 * with `viewers.decisions`. A viewer without a row cannot be locked: if another node inserts it meanwhile, this visit has
 * already been counted for its address, which has then counted one too many.
 *
 * Locks are taken in this order: known viewers, addresses, new viewers, counts of refusals, days of campaigns. Deadlocks are
 * rare and retried. At most one visit of a viewer is counted.
 *
 * Starting the plan costs as much as ten visits, by its nodes and their columns: so what is looked up for a visit is one
 * lateral query, and the rare records of unpaid visits are left to a function.
 */
const follow = statement<Row>(
  "clicks.follow",
  `with visits as materialized (
    select given.*, (moment at time zone 'utc')::date as visit_day, user_id, nullif(reference, '') as reference, issued_at,
      expires_at, user_id is not null and refusal is null as is_judged,
      -- This also sorts the visits, so that the rows of known viewers are locked in one order.
      row_number() over (partition by given.bot_id, user_id, refusal is null order by position) > 1 as is_repeat
    from (${visitRows.table}) as given
    left join lateral (
      select user_id, reference, issued_at, expires_at from codes
      where codes.bot_id = given.bot_id and codes.code = given.code limit 1
    ) as issued on true
  ),
  judged as materialized (
    select position, visits.bot_id, code, event_id, visits.user_id, reference, moment, occurred_at, visit_day, is_tap,
      visits.campaign_id, user_agent, address_hash, network_hash, day, earned_today, last_earned_at, decisions,
      clicks, counted, tapped, devices, device, suspicion, spare_code,
      visits.user_id = any (testers) as is_test,
      case when visits.user_id <> all (testers) then price end as price_micros,
      case when not is_used then available_at end as available_at, used_campaign_id,
      case
        when visits.user_id is null then 'unknown-code'
        when refusal is not null then refusal
        when is_used then 'used'
        when is_stale then 'again'
        when expires_at <= moment then 'expired'
        when is_suspended then 'bot-suspended'
        when limit_reason is not null then limit_reason
        when visits.campaign_id is null then 'no-ad'
        when user_cap is not null and (
          select count(*) from (
            (select from events where events.bot_id = visits.bot_id and events.user_id = visits.user_id
              and occurred_at > moment - make_interval(secs => user_cap_seconds) and price_micros is not null
              and events.campaign_id = visits.campaign_id order by occurred_at desc limit user_cap)
            union all
            (select from ad_sessions where ad_sessions.bot_id = visits.bot_id and ad_sessions.user_id = visits.user_id
              and opened_at > moment - make_interval(secs => user_cap_seconds)
              and state in ('playing', 'watched', 'held') and ad_sessions.campaign_id = visits.campaign_id
              order by opened_at desc limit user_cap)
          ) as seen_ads
        ) >= user_cap then 'user-cap'
        when counted >= ${mostOfAddress} then 'address-limit'
        when not is_tap and doubt is not null then 'tap-asked-' || doubt
        when not is_tap and (
          recent[1] > moment - interval '1 minute' or recent[3] > moment - interval '10 minutes'
          or recent[10] > moment - interval '1 hour' or recent[25] > moment - interval '24 hours'
        ) then 'tap-asked-address'
        when is_near_limit and visits.user_id <> all (testers) then 'near-limit'
        when is_repeat then 'again'
        when coalesce(suspicion, '') = '' or suspicious_clicks = 'pay' then 'counted'
        when suspicious_clicks = 'hold' then 'held'
        else 'suspicious'
      end as outcome
    from visits
    left join (
      select bot_id, testers, is_suspended, cooldown_seconds, daily_cap, suspicious_clicks from bots
      where bots.bot_id = any (${visitRows.parameterOf("bot_id")}) offset 0
    ) as bot on bot.bot_id = visits.bot_id
    left join (
      select campaign_id, click_price_micros as price, user_cap, user_cap_seconds from campaigns
      where campaigns.campaign_id = any (${visitRows.parameterOf("campaign_id")}) offset 0
    ) as campaign on campaign.campaign_id = visits.campaign_id
    left join lateral (
      select viewer.*, is_used, used_campaign_id, limit_reason, available_at, address.*
      from (
        select clicks, counted, tapped, devices, clicks || (
            select clicks from address_days
            where address_days.day = visit_day - 1 and address_days.address_hash = hash_before
          ) as recent
        from (select 1) as one left join address_days
          on address_days.day = visit_day and address_days.address_hash = visits.address_hash
      ) as address
      -- A viewer without a row has earned nothing and begun no view.
      left join lateral (
        select locked.*, locked.decisions is distinct from viewers.decisions as is_stale
        from viewers left join lateral (
          select day, earned_today, last_earned_at, decisions from viewers as newest
          where newest.bot_id = viewers.bot_id and newest.user_id = viewers.user_id for update
        ) as locked on true
        where viewers.bot_id = visits.bot_id and viewers.user_id = visits.user_id
      ) as viewer on true
      left join lateral (
        select is_used, used_campaign_id, (verdict).reason as limit_reason, (verdict).available_at
        from (
          select earned.event_id is not null or withheld.click_id is not null as is_used,
            case when earned.price_micros is not null then earned.campaign_id else withheld.campaign_id end
              as used_campaign_id,
            limit_of_viewer(day, earned_today, last_earned_at, cooldown_seconds, daily_cap,
              unfinished.count, last_active_at, first_deadline, moment) as verdict
          from unfinished_views(visits.bot_id, visits.user_id, visits.code, moment) as unfinished
          left join lateral (
            select event_id, campaign_id, price_micros from events
            where events.bot_id = visits.bot_id and events.code = visits.code and event = 'direct_link' limit 1
          ) as earned on true
          left join lateral (
            select click_id, campaign_id from withheld_clicks
            where withheld_clicks.bot_id = visits.bot_id and withheld_clicks.code = visits.code
              and withheld_clicks.outcome in ('held', 'refused', 'released') limit 1
          ) as withheld on true
          where day is not null
        ) as known
      ) as history on true
      where is_judged
    ) as state on true
    left join lateral (
      select (agent_key::bigint << 32) | (hashtextextended(visits.bot_id || ' ' || visits.user_id, agent_key) & 4294967295)
        as device
      where is_judged offset 0
    ) as seen_from on true
    left join lateral (
      select concat_ws(' ', tap_suspicion,
        -- A new address has no devices; for null, "and" would run the subquery, too.
        case when coalesce(cardinality(devices), 0) > 4 and (
          select count(*) > 5 from unnest((device || array_remove(devices, device))[1 : 100]) as one
          where one >> 32 = agent_key
        ) then 'many-users-of-one-agent' end,
        case when tapped + is_tap::integer >= 10 and (tapped + is_tap::integer) * 5 >= (counted + 1) * 4
          then 'mostly-taps' end,
        case when is_crowded then 'crowded-network' end,
        case when moment - issued_at < interval '1 second' then 'right-after-issue' end
      ) as suspicion
      where is_judged and visits.user_id <> all (testers) offset 0
    ) as looks on true
  ),
  -- Not for testers, whose clicks count towards no limit of others.
  counted_addresses as (
    insert into address_days (day, address_hash, clicks, counted, tapped, devices)
    select visit_day, address_hash, (moment || clicks)[1 : 25], coalesce(counted, 0) + 1,
      coalesce(tapped, 0) + is_tap::integer,
      case when device = any (devices) then devices else (device || devices)[1 : 100] end
    from judged where ${mayCount} and not is_test order by visit_day, address_hash
    on conflict (day, address_hash) do update set
      clicks = excluded.clicks, counted = excluded.counted, tapped = excluded.tapped, devices = excluded.devices
    where address_days.counted = excluded.counted - 1
    returning address_hash
  ),
  counted_viewers as (
    insert into viewers (bot_id, user_id, day, earned_today, last_earned_at, decisions)
    select bot_id, user_id, greatest(plausible_day(day, moment), visit_day), earned_on_day(day, earned_today, moment) + 1,
      greatest(plausible_time(last_earned_at, moment), moment), coalesce(decisions, 0) + 1
    -- In "case", so that the addresses are hashed.
    from judged where ${mayCount} and case when is_test or address_hash in (select * from counted_addresses) then true end
    order by bot_id, user_id
    on conflict (user_id, bot_id) do update set day = excluded.day, earned_today = excluded.earned_today,
      last_earned_at = excluded.last_earned_at, decisions = excluded.decisions
    where viewers.decisions = excluded.decisions - 1
    returning bot_id, user_id
  ),
  -- The code is spent: a view that began with it goes on with a code of its own, so that it can still earn.
  moved_views as (
    update ad_sessions set code = spare_code, reference = '', version = version + 1
    from judged
    where ad_sessions.bot_id = judged.bot_id and ad_sessions.code = judged.code and spare_code is not null
      and state in ('opened', 'playing', 'watched') and outcome in ('counted', 'held')
      and case when (judged.bot_id, judged.user_id) in (select * from counted_viewers) then true end
    returning ad_sessions.bot_id, ad_sessions.code, ad_sessions.user_id, moment, deadline
  ),
  moved_codes as (
    insert into codes (bot_id, code, user_id, issued_at, expires_at)
    select bot_id, code, user_id, moment, deadline from moved_views
  ),
  paid as materialized (
    select bot_id, event_id, 'direct_link' as event, user_id, code, reference, is_test, campaign_id,
      null::text as creative_id, price_micros, moment as occurred_at,
      webhook_body('direct_link', event_id, bot_id, user_id, code, reference, occurred_at, is_test) as body,
      case when suspicion <> '' then string_to_array(suspicion, ' ') end as suspicions,
      case when suspicion <> '' then user_agent end as user_agent,
      case when suspicion <> '' then address_hash end as address_hash,
      case when suspicion <> '' then network_hash end as network_hash,
      position
    from judged
    where outcome = 'counted' and case when (bot_id, user_id) in (select * from counted_viewers) then true end
  ),
  -- The visits that are returned as a row each.
  others as materialized (
    select *, case when ${mayCount} and not is_counted then 'again' else outcome end as decision
    from (select *, (bot_id, user_id) in (select * from counted_viewers) as is_counted from judged offset 0) as compared
    where outcome <> 'counted' or is_test or not is_counted
  ),
  ${enqueueWebhook({
    ...{ from: "paid", slots: slots ?? "", areNew: true },
    more: ["suspicions", "user_agent", "address_hash", "network_hash"],
  })}
  select position, decision as outcome, available_at as "availableAt", used_campaign_id as "usedCampaignId",
    user_id as "userId", coalesce(is_test, false) as "isTest", null as positions, null as body, null as url,
    null as "deliveryMode"
  from others
  union all
  select -1, null, null, null, string_agg(user_id, ' '), false, string_agg(position::text, ' '), null, null, null from paid
  where not is_test having count(*) > 0
  union all
  select position, null, null, null, null, false, null, body, url, delivery_mode
  from claimed_events join paid using (event_id)
  union all
  select -1, null, null, null, null, false, null, null, null, null where exists (select from waiting_events)
  union all
  select -1, null, null, null, null, false, null, null, null, null from (
    select record_unpaid_clicks(array_agg(bot_id), array_agg(code), array_agg(event_id), array_agg(user_id),
      array_agg(reference), array_agg(moment), array_agg(campaign_id), array_agg(decision), array_agg(suspicion),
      array_agg(user_agent), array_agg(address_hash), array_agg(network_hash))
    from others
    where user_id is not null and decision not in ('counted', 'again', 'near-limit', 'user-cap')
    having count(*) > 0 offset 0
  ) as records (recorded) where recorded is null`,
);

const LONGEST_AGENT = 256;

function rowOf({ visit, campaignId, isNearLimit, isNetworkCrowded }: AskedVisit, position: number) {
  const { request, code, clickId, now, visitor, tap, userAgent, hashes, spareCode } = visit;
  const agent = userAgent.slice(0, LONGEST_AGENT);
  return {
    ...{ position, bot_id: request.bot.botId, code, event_id: eventIdOfClick(clickId) },
    ...{ occurred_at: now.toISOString(), moment: now },
    refusal: visitor.kind === "machine" ? `machine-${visitor.reason}` : null,
    doubt: visitor.kind === "doubtful" ? visitor.reason : null,
    ...{ is_tap: tap !== undefined, tap_suspicion: tap?.suspicion },
    ...{ campaign_id: campaignId, is_near_limit: isNearLimit, user_agent: agent },
    // Usable for one day: the seed derives from the hash of the address, which changes daily.
    agent_key: crc32(agent, Number.parseInt(hashes.today.slice(0, 8), 16)) | 0,
    is_crowded: isNetworkCrowded,
    ...{ address_hash: hashes.today, hash_before: hashes.yesterday, network_hash: hashes.network },
    spare_code: spareCode,
  };
}

/** Follows links in one statement, and returns what became of each visit. No two visits are of one address. */
export async function judgeClicks(
  database: Transaction,
  asked: readonly AskedVisit[],
  { mostDailyClicksPerAddress, slots }: { mostDailyClicksPerAddress?: number | undefined; slots: number },
): Promise<MadeEvents<ClickVerdict[]>> {
  const values = visitRows.values(asked.map(rowOf));
  const rows = await database.run(follow, [...values, mostDailyClicksPerAddress ?? null, slots]);
  const result: ClickVerdict[] = [];
  const claimed: ClaimedEvent[] = [];
  let areWaiting = false;
  for (const { position, positions, body, url, deliveryMode, ...followed } of rows) {
    const { visit } = asked[position] ?? {};
    if (positions !== null && followed.userId !== null) {
      const users = followed.userId.split(" ");
      for (const [index, of] of positions.split(" ").entries()) result[Number(of)] = countedOf(users[index] ?? null);
    } else if (visit && body !== null && url !== null && deliveryMode !== null) {
      const { botId } = visit.request.bot;
      claimed.push({ botId, eventId: eventIdOfClick(visit.clickId), body, url, deliveryMode });
    } else if (visit) {
      result[position] = followed;
    } else {
      areWaiting = true;
    }
  }
  return { result, areWaiting, claimed };
}

function countedOf(userId: string | null): ClickVerdict {
  return { outcome: "counted", availableAt: null, usedCampaignId: null, userId, isTest: false };
}
