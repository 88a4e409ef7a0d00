import type { Bot } from "@intermission/operator-api/bots";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { selectTerms } from "../campaigns/event-worth.ts";
import { boundsAt, boundsIn } from "../codes/code-bounds.ts";
import type { Click, ClickFacts } from "./judge-click.ts";
import { noUsers } from "./network-users.ts";

const visitRows = rowParameters({
  position: "integer",
  bot_id: "text",
  code: "text",
  campaign_id: "text",
  address_hash: "bytea",
  hash_before: "bytea",
  network_hash: "bytea",
  moment: "timestamptz",
  is_machine: "boolean",
});

const behind = visitRows.parameters.length;
const bounds = boundsIn(`$${behind + 1}`, `$${behind + 2}`);

interface Row {
  position: number;
  userId: string | null;
  reference: string | null;
  issuedAt: Date | null;
  expiresAt: Date | null;
  isTester: boolean | null;
  isSuspended: boolean;
  cooldownSeconds: number;
  dailyCap: number;
  suspiciousClicks: Bot["suspiciousClicks"];
  priceMicros: number | null;
  includeRevenue: boolean | null;
  sharePercent: number;
  currency: string | null;
  userCap: number | null;
  seenAds: number | null;
  address: AddressRow | null;
  clicksBefore: Date[] | null;
  network: { users: number; minute: string; minuteUsers: number } | null;
  viewer: ViewerRow | null;
  isUsed: boolean | null;
  usedCampaignId: string | null;
}

/** As JSON, because most first clicks have none, and one null column costs less than many. Moments are texts. */
interface AddressRow {
  clicks: string[];
  viewers: string[];
  counted: number;
  tapped: number;
  devices: string[];
}
interface ViewerRow {
  day: string;
  earnedToday: number;
  lastEarnedAt: string | null;
  decisions: number;
  unfinished: number;
  lastActiveAt: string | null;
  firstDeadline: string | null;
}

const seenAds = `(
     select count(*)::integer from (
       (select from events where events.bot_id = v.bot_id and events.user_id = code.user_id
         and occurred_at > moment - make_interval(secs => user_cap_seconds) and price_micros is not null
         and events.campaign_id = v.campaign_id order by occurred_at desc limit user_cap)
       union all
       (select from views where views.bot_id = v.bot_id and views.user_id = code.user_id
         and opened_at > moment - make_interval(secs => user_cap_seconds)
         and views.code >= code_week_at(moment - make_interval(secs => user_cap_seconds) - interval '2 days')
         and state in ('playing', 'watched', 'held') and views.campaign_id = v.campaign_id
         order by opened_at desc limit user_cap)
     ) as seen_ads
   )`;

// A viewer without a row has no event and no view that matters, so for most first clicks nothing more is read.
const read = statement<Row>(
  "clicks.read-facts",
  `select v.position, code.user_id as "userId", nullif(code.reference, '') as reference, code.issued_at as "issuedAt",
     code.expires_at as "expiresAt", code.user_id = any (bot.testers) as "isTester", bot.is_suspended as "isSuspended",
     bot.cooldown_seconds as "cooldownSeconds", bot.daily_cap as "dailyCap", bot.suspicious_clicks as "suspiciousClicks",
     bot.include_revenue as "includeRevenue", ${selectTerms}, campaign.price as "priceMicros", campaign.user_cap as "userCap",
     case when campaign.user_cap is not null then ${seenAds} end as "seenAds",
     case when address.day is not null then json_build_object('clicks', address.clicks, 'viewers', address.viewers::text[],
       'counted', address.counted, 'tapped', address.tapped, 'devices', address.devices::text[]) end as address,
     address_before.clicks as "clicksBefore",
     case when network.day is not null then json_build_object('users', network.users, 'minute', network.minute,
       'minuteUsers', network.minute_users) end as network,
     case when viewer.day is not null then json_build_object('day', viewer.day, 'earnedToday', viewer.earned_today,
       'lastEarnedAt', viewer.last_earned_at, 'decisions', viewer.decisions, 'unfinished', unfinished.count,
       'lastActiveAt', unfinished.last_active_at, 'firstDeadline', unfinished.first_deadline) end as viewer,
     earned.event_id is not null or withheld.click_id is not null as "isUsed",
     case when earned.price_micros is not null then earned.campaign_id else withheld.campaign_id end as "usedCampaignId"
   from (${visitRows.table}) as v
   left join lateral (
     select * from codes where codes.bot_id = v.bot_id and codes.code = v.code limit 1
   ) as code on true
   left join (
     select bot_id, testers, is_suspended, cooldown_seconds, daily_cap, suspicious_clicks, include_revenue from bots
     where bots.bot_id = any (${visitRows.parameterOf("bot_id")}) offset 0
   ) as bot on bot.bot_id = v.bot_id
   left join (
     select campaign_id, click_price_micros as price, user_cap, user_cap_seconds from campaigns
     where campaigns.campaign_id = any (${visitRows.parameterOf("campaign_id")}) offset 0
   ) as campaign on campaign.campaign_id = v.campaign_id
   left join address_days as address on not is_machine
     and address.day = (moment at time zone 'utc')::date and address.address_hash = v.address_hash
   left join address_days as address_before on not is_machine
     and address_before.day = (moment at time zone 'utc')::date - 1 and address_before.address_hash = hash_before
   left join network_days as network on not is_machine
     and network.day = (moment at time zone 'utc')::date and network.bot_id = v.bot_id and network.network = network_hash
   left join lateral (
     select * from viewers where not is_machine and viewers.bot_id = v.bot_id and viewers.user_id = code.user_id limit 1
   ) as viewer on true
   left join lateral (
     select * from unfinished_views(v.bot_id, code.user_id, v.code, moment, ${bounds.first}, ${bounds.last}) where viewer.day is not null
   ) as unfinished on true
   left join lateral (
     select event_id, campaign_id, price_micros from events where viewer.day is not null
       and events.bot_id = v.bot_id and events.code = v.code and event = 'direct_link' limit 1
   ) as earned on true
   left join lateral (
     select click_id, campaign_id from withheld_clicks where viewer.day is not null
       and withheld_clicks.bot_id = v.bot_id and withheld_clicks.code = v.code
       and outcome in ('held', 'refused', 'released') limit 1
   ) as withheld on true`,
);

/** Reads the facts about visits, in their order. Nothing is locked: the statement that writes compares the versions. */
export async function readClickFacts(database: Transaction, clicks: readonly Click[]): Promise<ClickFacts[]> {
  const facts: ClickFacts[] = [];
  const values = [...visitRows.values(clicks.map(rowOf)), ...boundsAt(clicks.map(({ visit }) => visit.now))];
  for (const row of await database.run(read, values)) facts[row.position] = factsOf(row);
  return facts;
}

function rowOf({ visit, campaignId, network }: Click, position: number) {
  const { request, code, now, visitor, hashes } = visit;
  return {
    position,
    bot_id: request.bot.botId,
    code,
    campaign_id: campaignId,
    address_hash: hashes.today,
    hash_before: hashes.yesterday,
    network_hash: network.isStored ? hashes.network : undefined,
    moment: now,
    is_machine: visitor.kind === "machine",
  };
}

function factsOf(row: Row): ClickFacts {
  const { isTester, isSuspended, cooldownSeconds, dailyCap, suspiciousClicks } = row;
  return {
    userId: row.userId,
    reference: row.reference,
    issuedAt: row.issuedAt,
    expiresAt: row.expiresAt,
    bot: { isTester: isTester ?? false, isSuspended, cooldownSeconds, dailyCap, suspiciousClicks },
    priceMicros: row.priceMicros,
    includeRevenue: row.includeRevenue ?? false,
    sharePercent: row.sharePercent,
    currency: row.currency,
    userCap: row.userCap,
    seenAds: row.seenAds,
    address: row.address === null ? noAddress : { ...row.address, clicks: row.address.clicks.map(momentOf) },
    addressClicksBefore: row.clicksBefore ?? none,
    network: row.network === null ? noUsers : { ...row.network, minute: momentOf(row.network.minute) },
    ...(row.viewer === null ? noViewer : viewerOf(row.viewer)),
    isUsed: row.isUsed ?? false,
    usedCampaignId: row.usedCampaignId,
  };
}

const none: readonly never[] = [];
const noAddress: ClickFacts["address"] = { clicks: none, viewers: none, counted: 0, tapped: 0, devices: none };
const noViewer = {
  day: null,
  earnedToday: null,
  lastEarnedAt: null,
  decisions: 0,
  unfinished: { count: 0, lastActiveAt: null, firstDeadline: null },
};

function viewerOf({ unfinished, lastEarnedAt, lastActiveAt, firstDeadline, ...viewer }: ViewerRow) {
  return {
    ...viewer,
    lastEarnedAt: momentOrNull(lastEarnedAt),
    unfinished: {
      count: unfinished,
      lastActiveAt: momentOrNull(lastActiveAt),
      firstDeadline: momentOrNull(firstDeadline),
    },
  };
}

const momentOf = (text: string) => new Date(text);
const momentOrNull = (text: string | null) => (text === null ? null : momentOf(text));
