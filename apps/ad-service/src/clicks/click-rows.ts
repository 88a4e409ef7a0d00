import { eventIdOfClick } from "@intermission/ad-core/code";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { storableText } from "@intermission/postgres/storable-text";
import { type EventWorth, worthOf } from "../campaigns/event-worth.ts";
import { webhookBody } from "../deliveries/webhook-body.ts";
import { audienceText } from "../viewers/audience.ts";
import { afterEarning } from "../viewers/limit-of-viewer.ts";
import { type ClickVerdict, type LeadingVerdict, leadsToAd, refusalOf } from "./click-verdict.ts";
import { type Click, type ClickFacts, deviceOf, isFirstOfDay, MAX_AGENT_LENGTH, viewerOf } from "./judge-click.ts";
import { addUsers, oneUser } from "./network-users.ts";
import type { JudgedVisit } from "./visit.ts";

/** A visit whose verdict is to be written. */
export interface JudgedClick {
  readonly click: Click;
  readonly facts: ClickFacts;
  readonly verdict: ClickVerdict;
}

/** What is written of each verdict. */
export const clickRows = rowParameters({
  position: "integer",
  bot_id: "text",
  code: "text",
  event_id: "text",
  user_id: "text",
  reference: "text",
  campaign_id: "text",
  audience: "text",
  price_micros: "bigint",
  revenue_micros: "bigint",
  moment: "timestamptz",
  is_test: "boolean",
  /** Null: counted. */
  refusal: "text",
  suspicions: "text[]",
  user_agent: "text",
  address_hash: "bytea",
  network_hash: "bytea",
  replacement_code: "text",
  body: "text",
  traceparent: "text",
  // Of visits that lead to their ad: the rows of address and viewer after it. The others leave them null.
  counted: "integer",
  tapped: "integer",
  device: "text",
  viewer: "text",
  // What is added to the network, if it is stored.
  network_users: "integer",
  network_minute: "timestamptz",
  network_minute_users: "integer",
  viewer_day: "text",
  earned_today: "integer",
  last_earned_at: "timestamptz",
  decisions: "bigint",
});

/** Whether the visit, once written, adds a user to its network. */
export function addsUser({ click, facts, verdict }: JudgedClick): boolean {
  return leadsToAd(verdict) && !verdict.isTest && isFirstOfDay(facts, click.visit.now);
}

export function clickRowOf(judged: JudgedClick, position: number) {
  const { click, facts, verdict } = judged;
  const { request, code, clickId, now, userAgent, hashes } = click.visit;
  return {
    position,
    bot_id: request.bot.botId,
    code,
    event_id: eventIdOfClick(clickId),
    user_id: facts.userId,
    reference: facts.reference,
    campaign_id: click.campaignId,
    audience: audienceText(request.user),
    moment: now,
    refusal: refusalOf(verdict),
    user_agent: storableText(userAgent, MAX_AGENT_LENGTH),
    address_hash: hashes.today,
    network_hash: hashes.network,
    ...(leadsToAd(verdict) ? leadingValues(judged, verdict) : { body: undefined }),
  };
}

function leadingValues(judged: JudgedClick, { outcome, suspicions, isTest }: LeadingVerdict) {
  const { click, facts } = judged;
  const { visit } = click;
  const { pending, isStored } = click.network;
  const users = addsUser(judged) ? addUsers(pending, oneUser(visit.now)) : pending;
  const added = isStored && users.users > 0 ? users : undefined;
  const viewer = afterEarning(facts, visit.now);
  const worth = worthOf(facts, { isTest });
  return {
    price_micros: worth.priceMicros,
    revenue_micros: worth.revenueMicros,
    is_test: isTest,
    suspicions: suspicions.length === 0 ? undefined : suspicions,
    replacement_code: visit.replacementCode,
    body: outcome === "counted" ? bodyOf(visit, facts, { isTest, worth }) : undefined,
    traceparent: visit.traceparent,
    counted: facts.address.counted + 1,
    tapped: facts.address.tapped + (visit.tap === undefined ? 0 : 1),
    device: deviceOf(visit, facts.userId),
    viewer: viewerOf(visit, facts.userId),
    network_users: added?.users,
    network_minute: added?.minute,
    network_minute_users: added?.minuteUsers,
    viewer_day: viewer.day,
    earned_today: viewer.earnedToday,
    last_earned_at: viewer.lastEarnedAt,
    decisions: facts.decisions + 1,
  };
}

function bodyOf(
  { clickId, request, code, now }: JudgedVisit,
  { userId, reference }: ClickFacts,
  { isTest, worth }: { isTest: boolean; worth: EventWorth },
): string {
  const { botId } = request.bot;
  const of = { eventId: eventIdOfClick(clickId), botId, userId: userId ?? "", code, reference };
  return webhookBody({ event: "direct_link", ...of, at: now, worth: worth.fields, isTest });
}
