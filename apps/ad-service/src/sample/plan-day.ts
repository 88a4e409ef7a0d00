import { CODE_RANDOM_BYTES, newCode, newEventId } from "@intermission/ad-core/code";
import type { EventType } from "@intermission/ad-core/wire-fields";
import { worthOf } from "../campaigns/event-worth.ts";
import { webhookBody } from "../deliveries/webhook-body.ts";
import { newViewId } from "../views/view-ids.ts";
import type { Id, Of, PlannedDay } from "./planned-rows.ts";
import type { SampleBot, SampleCampaign } from "./sample-objects.ts";

/** Where the random numbers come from. */
export interface Dice {
  /** In [0, 1). */
  random(): number;
  bytes(length: number): Uint8Array;
}

interface DayOfTraffic {
  /** UTC: its first moment, and how far it is after the sample's first day. */
  readonly start: Date;
  readonly index: number;
  /** Traffic before and from these moments is left out. */
  readonly from: Date;
  readonly until: Date;
  /** True: the day has suspicious views and clicks that wait for a decision. False: it has none. */
  readonly hasHeld: boolean;
}

export interface TrafficTerms {
  readonly sharePercent: number;
  readonly currency: string;
  /** Whether a source of countries is configured; else no country is recorded. */
  readonly hasCountries: boolean;
  readonly durationMs: number;
  readonly campaigns: readonly SampleCampaign[];
}

const HOUR_MS = 3_600_000;
/** Requests by the hour of the bot's local day, relative to one another. */
const HOURS = [3, 2, 1, 1, 1, 2, 4, 6, 7, 6, 6, 7, 9, 8, 7, 7, 8, 10, 12, 14, 15, 14, 10, 6];
/** From Sunday on. */
const WEEKDAYS = [1.25, 0.9, 0.92, 0.95, 1, 1.1, 1.3];

export interface DayPlan {
  readonly bots: readonly (SampleBot & { codePrefix: string })[];
  readonly day: DayOfTraffic;
  readonly terms: TrafficTerms;
  readonly dice: Dice;
}

/** A day of plausible, consistent traffic of these bots. */
export function planDay({ bots, ...plan }: DayPlan): PlannedDay {
  const planned: PlannedDay = {
    codes: [],
    requests: [],
    views: [],
    milestones: [],
    ctaClicks: [],
    events: [],
    withheld: [],
    conversions: [],
  };
  for (const bot of bots) planBot(bot, plan, planned);
  return planned;
}

function planBot(
  bot: SampleBot & { codePrefix: string },
  { day, terms, dice }: Omit<DayPlan, "bots">,
  planned: PlannedDay,
): void {
  const weekday = WEEKDAYS[day.start.getUTCDay()] ?? 1;
  const requests = Math.round(bot.requestsPerDay * weekday * (0.85 + 0.3 * dice.random()));
  for (let n = 0; n < requests; n++) {
    const issuedAt = new Date(day.start.getTime() + momentOfDay(bot.utcOffsetHours, dice));
    // Drawn for left-out moments, too, so that the rest of the day stays the same.
    const visitor = visitorOf(bot, terms, dice);
    const code = newCode(bot.codePrefix, dice.bytes(CODE_RANDOM_BYTES), issuedAt);
    if (issuedAt < day.from || issuedAt >= day.until) continue;
    const request = { bot, day, terms, dice, planned, issuedAt, ...visitor, id: idOf(bot, visitor.userId, code) };
    planned.codes.push({ ...request.id, issued_at: issuedAt });
    if (dice.random() < bot.linkShare) planLink(request);
    else planRequest(request);
  }
}

interface Visitor {
  userId: string;
  audience: string;
}

interface PlannedRequest extends Visitor {
  bot: SampleBot;
  day: DayOfTraffic;
  terms: TrafficTerms;
  dice: Dice;
  planned: PlannedDay;
  issuedAt: Date;
  id: Id;
}

const idOf = (bot: SampleBot, user_id: string, code: string): Id => ({ bot_id: bot.botId, user_id, code });

/** Milliseconds after the start of the UTC day. */
function momentOfDay(utcOffsetHours: number, dice: Dice): number {
  const local = drawByWeight([...HOURS.entries()], ([, weight]) => weight, dice)?.[0] ?? 0;
  const hour = (local - utcOffsetHours + 48) % 24;
  return (Math.floor(hour) + dice.random()) * HOUR_MS;
}

/** Few users come often. Each user's device stays the same. */
function visitorOf(bot: SampleBot, { hasCountries }: TrafficTerms, dice: Dice): Visitor {
  const index = Math.floor(bot.users * dice.random() ** 2);
  const pick = (from: readonly string[], step: number) => from[Math.floor(index / step) % from.length] ?? "";
  const parts = [
    hasCountries ? pick(bot.countries, 1) : "",
    pick(bot.platforms, 2),
    pick(bot.languages, 3),
    index % 9 === 0 ? "premium" : "regular",
  ];
  return { userId: String(BigInt(bot.userPrefix) + BigInt(index + 1)), audience: parts.join("|") };
}

/** By weight, of the campaigns that run on the day; undefined: there is none. */
function campaignOf({ day, terms, dice }: PlannedRequest, format: SampleCampaign["format"]) {
  const running = terms.campaigns.filter(
    (one) => one.format === format && one.startsOn <= day.index && (one.endsOn === null || day.index < one.endsOn),
  );
  return drawByWeight(running, ({ weight }) => weight, dice);
}

/** Undefined: there are none. */
function drawByWeight<One>(all: readonly One[], weightOf: (one: One) => number, dice: Dice): One | undefined {
  let left = dice.random() * all.reduce((sum, one) => sum + weightOf(one), 0);
  return all.find((one) => {
    left -= weightOf(one);
    return left < 0;
  });
}

const later = (at: Date, milliseconds: number) => new Date(at.getTime() + Math.round(milliseconds));

/** A request for a video, and the view that it leads to. */
function planRequest(request: PlannedRequest): void {
  const { dice, planned, id, audience, issuedAt } = request;
  const openedAt = later(issuedAt, 2000 + 15_000 * dice.random());
  const luck = dice.random();
  const campaign = luck < 0.9 ? campaignOf(request, "rewarded") : undefined;
  if (campaign === undefined) {
    const [outcome, reason] = luck < 0.96 ? ["no-ad", "none-fits"] : ["limited", "daily-cap"];
    const unfilled = { outcome, reason, campaign_id: null, creative_id: null, audience, occurred_at: openedAt };
    planned.requests.push({ ...id, ...unfilled });
    return;
  }
  const of = { campaign_id: campaign.campaignId, creative_id: campaign.creativeIds[0] ?? null, audience };
  planned.requests.push({ ...id, ...of, outcome: "filled", reason: "", occurred_at: openedAt });
  planView(request, campaign, of, openedAt);
}

const QUARTILES = ["first-quartile", "midpoint", "third-quartile"] as const;

function planView(request: PlannedRequest, campaign: SampleCampaign, of: Of, openedAt: Date): void {
  const { bot, day, dice, planned, id, terms } = request;
  const { durationMs } = terms;
  const luck = dice.random();
  const startedAt = luck < 0.03 ? null : later(openedAt, 900 + 1500 * dice.random());
  const watched = startedAt === null ? 0 : luck < 0.24 ? dice.random() * 0.98 : 1;
  const isHeld = watched === 1 && day.hasHeld && dice.random() < 0.015;
  const reached = (share: number) => later(startedAt ?? openedAt, durationMs * share);
  const closedAt = watched === 1 ? later(reached(1), 800 + 2500 * dice.random()) : null;
  const viewId = newViewId({ botId: bot.botId, code: id.code }, Buffer.from(dice.bytes(16)).toString("base64url"));
  const suspicions = isHeld ? ["too-even"] : [];
  planned.views.push({
    ...id,
    ...of,
    view_id: viewId,
    duration_ms: durationMs,
    opened_at: openedAt,
    started_at: startedAt,
    state: startedAt === null ? "opened" : watched < 1 ? "playing" : isHeld ? "held" : "rewarded",
    accepted_ms: Math.floor(durationMs * watched),
    suspicions,
    closed_at: closedAt,
  });
  const pass = (milestone: string, occurred_at: Date, reason = "") =>
    planned.milestones.push({ bot_id: bot.botId, ...of, milestone, reason, occurred_at });
  if (startedAt === null) return;
  pass("start", startedAt);
  for (const [index, quartile] of QUARTILES.entries()) {
    const share = (index + 1) / 4;
    if (watched >= share) pass(quartile, reached(share));
  }
  if (dice.random() < 0.06)
    planCtaClick(request, { campaign, of, viewId, openedAt, at: reached(Math.max(0.2, watched)) });
  if (closedAt === null) return;
  pass("complete", reached(1));
  pass("close", closedAt, "tap");
  if (isHeld) pass("held", closedAt, suspicions.join(" "));
  else planEvent(request, { event: "rewarded", campaign, of, at: closedAt });
}

interface ClickOfView {
  campaign: SampleCampaign;
  of: Of;
  viewId: string;
  openedAt: Date;
  at: Date;
}

function planCtaClick(request: PlannedRequest, { campaign, of, viewId, openedAt, at }: ClickOfView): void {
  const { bot, dice, planned, userId } = request;
  const clickId = clickIdOf(newEventId(at.getTime(), dice.bytes(10)));
  planned.ctaClicks.push({
    bot_id: bot.botId,
    view_id: viewId,
    click_id: clickId,
    user_id: userId,
    ...of,
    occurred_at: at,
    opened_at: openedAt,
  });
  planConversion(request, { campaign, of, clickId, at });
}

/** A visit of a direct link: counted, not counted, or held. */
function planLink(request: PlannedRequest): void {
  const { day, dice, planned, id, audience, issuedAt } = request;
  const at = later(issuedAt, 3000 + 60_000 * dice.random());
  const campaign = campaignOf(request, "direct_link");
  if (campaign === undefined) return;
  const luck = dice.random();
  const clickId = clickIdOf(newEventId(at.getTime(), dice.bytes(10)));
  if (luck < 0.05) {
    const refused = { campaign_id: null, outcome: "daily-cap", suspicions: [], audience, occurred_at: at };
    planned.withheld.push({ ...id, click_id: clickId, ...refused });
    return;
  }
  if (day.hasHeld && luck < 0.08) {
    const held = { campaign_id: campaign.campaignId, outcome: "held", suspicions: ["crowded-network"], audience };
    planned.withheld.push({ ...id, click_id: clickId, ...held, occurred_at: at });
    return;
  }
  const of = { campaign_id: campaign.campaignId, creative_id: null, audience };
  const eventId = planEvent(request, { event: "direct_link", campaign, of, at });
  planConversion(request, { campaign, of, clickId: clickIdOf(eventId), at });
}

const clickIdOf = (eventId: string) => eventId.replace(/^evt_/, "clk_");

interface Earned {
  event: EventType;
  campaign: SampleCampaign;
  of: Of;
  at: Date;
}

function planEvent({ bot, dice, planned, id, terms }: PlannedRequest, { event, campaign, of, at }: Earned): string {
  const eventId = newEventId(at.getTime(), dice.bytes(10));
  const charge = { ...terms, priceMicros: campaign.priceMicros, includeRevenue: false };
  const { priceMicros, revenueMicros, fields } = worthOf(charge, { isTest: false });
  const earnedBy = { botId: bot.botId, userId: id.user_id, code: id.code };
  const body = webhookBody({ event, eventId, ...earnedBy, at, worth: fields });
  planned.events.push({
    ...id,
    ...of,
    event_id: eventId,
    event,
    price_micros: priceMicros,
    revenue_micros: revenueMicros,
    body,
    occurred_at: at,
    failures: dice.random() < 0.03 ? 1 : 0,
  });
  return eventId;
}

interface ConvertedClick {
  campaign: SampleCampaign;
  of: Of;
  clickId: string;
  at: Date;
}

/** Within the hour, and before the sample's end. */
function planConversion(request: PlannedRequest, { campaign, of, clickId, at }: ConvertedClick): void {
  const { bot, day, dice, planned, terms } = request;
  const { share, event, valueMicros } = campaign.conversion;
  const occurred_at = later(at, 60_000 + HOUR_MS * dice.random());
  if (dice.random() >= share || occurred_at >= day.until) return;
  const value = { value_micros: valueMicros, currency: terms.currency };
  planned.conversions.push({
    bot_id: bot.botId,
    click_id: clickId,
    ...of,
    event,
    ...value,
    occurred_at,
    clicked_at: at,
  });
}
