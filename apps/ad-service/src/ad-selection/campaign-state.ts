import { type CampaignFormat, isViewFormat } from "@intermission/operator-api/campaign-words";
import type { Campaign } from "@intermission/operator-api/campaigns";
import type { Delivered } from "../campaigns/campaigns.ts";
import type { AdvertiserFunds } from "./advertiser-funds.ts";

/** A campaign that may run, and what it has delivered so far. */
export interface CampaignState {
  readonly campaign: Campaign;
  /** `today` is the current UTC day, `earlier` all days before it. */
  today: Delivered;
  earlier: Delivered;
  /** Views that were opened recently and have not ended. They count against every limit as if they were completed. */
  viewsInFlight: number;
  /** Shared by all campaigns of the advertiser; null: it has no limit. */
  readonly funds: AdvertiserFunds | null;
}

/** The campaigns of a node, and what it has served of them since their states were last read. */
export interface ServedAds {
  byId: ReadonlyMap<string, CampaignState>;
  reserved: Set<ReservedAd>;
}

interface ReservedAd {
  campaignId: string;
  format: CampaignFormat;
}

/**
 * Counts a served ad: on this node immediately, on the other nodes with their next refresh. Call the returned function if
 * the ad is not used after all.
 */
export function holdAd(served: ServedAds, campaignId: string, format: CampaignFormat): () => void {
  const ad = { campaignId, format };
  served.reserved.add(ad);
  countAds(served, ad, 1);
  return () => {
    // An ad from before the last read is no longer in `reserved`, so there is nothing to subtract.
    if (served.reserved.delete(ad)) countAds(served, ad, -1);
  };
}

export function countAds({ byId }: ServedAds, { campaignId, format }: ReservedAd, ads: number): void {
  const state = byId.get(campaignId);
  if (!state) return;
  const { funds, campaign } = state;
  if (isViewFormat(format)) {
    state.viewsInFlight += ads;
    if (funds) funds.heldMicros += ads * campaign.viewPriceMicros;
  } else {
    const price = priceOf(campaign, format);
    if (format === "direct_link") state.today.clicks += ads;
    state.today.spentMicros += ads * price;
    if (funds) funds.spentMicros += ads * price;
  }
}

/** Of one ad or task. */
function priceOf(campaign: Campaign, format: CampaignFormat): number {
  const prices = {
    rewarded: campaign.viewPriceMicros,
    interstitial: campaign.viewPriceMicros,
    direct_link: campaign.clickPriceMicros,
    task: campaign.taskPriceMicros,
  } satisfies Record<CampaignFormat, number>;
  return prices[format];
}

export type Limit =
  | "total-budget"
  | "daily-budget"
  | "total-view-cap"
  | "daily-view-cap"
  | "total-click-cap"
  | "daily-click-cap"
  | "advertiser-funds";

/** A limit, how much of it is used or held, and how much one more ad of the format adds. */
interface LimitUse {
  limit: Limit;
  isDaily: boolean;
  max: number;
  used: number;
  each: number;
}

/** The limits that an ad of the format counts towards. */
function limitsOf(state: CampaignState, format: CampaignFormat): LimitUse[] {
  const { campaign, today, earlier, viewsInFlight, funds } = state;
  const isView = isViewFormat(format);
  const price = priceOf(campaign, format);
  const views = today.views + viewsInFlight;
  const spent = today.spentMicros + viewsInFlight * campaign.viewPriceMicros;
  const uses: LimitUse[] = [];
  const add = (limit: Limit, isDaily: boolean, max: number | null, used: number, each: number) => {
    if (max !== null && each > 0) uses.push({ limit, isDaily, max, used, each });
  };
  if (funds) add("advertiser-funds", false, funds.limitMicros, funds.spentMicros + funds.heldMicros, price);
  add("total-budget", false, campaign.totalBudgetMicros, earlier.spentMicros + spent, price);
  add("daily-budget", true, campaign.dailyBudgetMicros, spent, price);
  if (isView) {
    add("total-view-cap", false, campaign.totalViewCap, earlier.views + views, 1);
    add("daily-view-cap", true, campaign.dailyViewCap, views, 1);
  } else if (format === "direct_link") {
    add("total-click-cap", false, campaign.totalClickCap, earlier.clicks + today.clicks, 1);
    add("daily-click-cap", true, campaign.dailyClickCap, today.clicks, 1);
  }
  return uses;
}

/** The limit that one more ad would exceed; undefined if there is none. */
export function fullLimit(state: CampaignState, format: CampaignFormat): Limit | undefined {
  return limitsOf(state, format).find(({ max, used, each }) => used + each > max)?.limit;
}

/** How many more ads fit within the tightest limit. */
function adsLeft(state: CampaignState, format: CampaignFormat): number {
  return limitsOf(state, format).reduce(
    (lowest, { max, used, each }) => Math.min(lowest, (max - used) / each),
    Number.POSITIVE_INFINITY,
  );
}

/** More ads than all nodes can serve between two snapshot refreshes: with fewer left, the database is queried. */
const NEAR_LIMIT_BELOW = 20_000;
/** More than can be requested at the same moment: with fewer left, ads are served one at a time. */
const SERIALIZED_BELOW = 500;

/** Whether so few ads are left before a limit that the database is queried, by `askLimits`. */
export function isNearLimit(state: CampaignState, format: CampaignFormat): boolean {
  return adsLeft(state, format) < NEAR_LIMIT_BELOW;
}

/** Whether so few ads are left before a limit that they are served one at a time across all nodes. */
export function isSerialized(state: CampaignState, format: CampaignFormat): boolean {
  return adsLeft(state, format) < SERIALIZED_BELOW;
}

/** How a day's requests are distributed: 24 shares, one for each UTC hour, with a sum of 1. */
export type TrafficCurve = readonly number[];
export const flatCurve: TrafficCurve = Array.from({ length: 24 }, () => 1 / 24);

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The share of a day's requests that is expected by a moment of the day, 0 to 1. */
export function shareOfDay(curve: TrafficCurve, millisecondsOfDay: number): number {
  const hour = Math.min(23, Math.floor(millisecondsOfDay / HOUR_MS));
  let before = 0;
  for (let earlier = 0; earlier < hour; earlier++) before += curve[earlier] ?? 0;
  return Math.min(1, before + (curve[hour] ?? 0) * ((millisecondsOfDay - hour * HOUR_MS) / HOUR_MS));
}

/**
 * How many ads of a format an evenly paced campaign is behind its plan of the day; negative if it is ahead. Undefined if it
 * has no plan: no limit applies to its day, or its pacing is `asap`.
 *
 * The plan is the tightest of its daily limits and the even daily share of what is left of its total limits. It follows the
 * expected traffic between the campaign's first and last moment of the day.
 */
export function adsBehindPlan(
  state: CampaignState,
  format: CampaignFormat,
  { now, curve }: { now: Date; curve: TrafficCurve },
): number | undefined {
  const { campaign } = state;
  if (campaign.pacing === "asap") return undefined;
  const dayStart = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const dayEnd = dayStart + DAY_MS;
  const from = Math.max(dayStart, (campaign.startsAt ?? campaign.createdAt).getTime());
  const to = Math.min(dayEnd, campaign.endsAt?.getTime() ?? dayEnd);
  const share = (at: number) => shareOfDay(curve, Math.min(Math.max(at, dayStart), dayEnd) - dayStart);
  const ofToday = share(to) - share(from);
  const due = ofToday <= 0 ? 1 : Math.min(1, (share(now.getTime()) - share(from)) / ofToday);

  let behind: number | undefined;
  for (const use of limitsOf(state, format)) {
    const { isDaily, max, used, each } = use;
    const plan = isDaily ? { goal: max, done: used } : planOfTotal(use, state, format, { from, to, dayEnd });
    if (plan === undefined) continue;
    const ads = (plan.goal * due - plan.done) / each;
    behind = behind === undefined ? ads : Math.min(behind, ads);
  }
  return behind;
}

/** The plan of a total limit: what is left of it at the start of the day, spread evenly over the days until the end. */
function planOfTotal(
  { limit, max, used }: LimitUse,
  state: CampaignState,
  format: CampaignFormat,
  { from, to, dayEnd }: { from: number; to: number; dayEnd: number },
): { goal: number; done: number } | undefined {
  const { campaign, today, viewsInFlight } = state;
  // The advertiser's other campaigns spend the same funds, so that no share of them is this campaign's plan.
  if (campaign.endsAt === null || limit === "advertiser-funds") return undefined;
  const views = today.views + viewsInFlight;
  const ofFormat = isViewFormat(format) ? views : today.clicks;
  const done = limit === "total-budget" ? today.spentMicros + viewsInFlight * campaign.viewPriceMicros : ofFormat;
  const daysLeft = (to - from) / DAY_MS + Math.max(0, (campaign.endsAt.getTime() - dayEnd) / DAY_MS);
  const shareOfRest = daysLeft <= 0 ? 1 : Math.min(1, (to - from) / DAY_MS / daysLeft);
  return { goal: (max - used + done) * shareOfRest, done };
}
