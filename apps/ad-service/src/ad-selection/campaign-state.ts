import type { CampaignFormat } from "../campaigns/campaign-settings.ts";
import type { Campaign } from "../campaigns/campaigns.ts";

/** What was delivered and charged: counts of views and clicks, and the spend in micros. */
export interface Delivered {
  views: number;
  clicks: number;
  spentMicros: number;
}

/** A campaign that may run, and what it has delivered so far. */
export interface CampaignState {
  readonly campaign: Campaign;
  /** `today` is the current UTC day, `earlier` all days before it. */
  today: Delivered;
  earlier: Delivered;
  /** Views that were opened recently and have not ended. They count against every limit as if they were completed. */
  viewsInFlight: number;
}

export type Limit =
  | "total-budget"
  | "daily-budget"
  | "total-view-cap"
  | "daily-view-cap"
  | "total-click-cap"
  | "daily-click-cap";

/** A limit, how much of it is used or held, and how much one more ad of the format adds. */
export interface LimitUse {
  limit: Limit;
  isDaily: boolean;
  most: number;
  used: number;
  each: number;
}

/** The limits that an ad of the format counts towards. */
export function limitsOf(state: CampaignState, format: CampaignFormat): LimitUse[] {
  const { campaign, today, earlier, viewsInFlight } = state;
  const isView = format === "rewarded";
  const price = isView ? campaign.viewPriceMicros : campaign.clickPriceMicros;
  const views = today.views + viewsInFlight;
  const spent = today.spentMicros + viewsInFlight * campaign.viewPriceMicros;
  const uses: LimitUse[] = [];
  const add = (limit: Limit, isDaily: boolean, most: number | null, used: number, each: number) => {
    if (most !== null && each > 0) uses.push({ limit, isDaily, most, used, each });
  };
  add("total-budget", false, campaign.totalBudgetMicros, earlier.spentMicros + spent, price);
  add("daily-budget", true, campaign.dailyBudgetMicros, spent, price);
  if (isView) {
    add("total-view-cap", false, campaign.totalViewCap, earlier.views + views, 1);
    add("daily-view-cap", true, campaign.dailyViewCap, views, 1);
  } else {
    add("total-click-cap", false, campaign.totalClickCap, earlier.clicks + today.clicks, 1);
    add("daily-click-cap", true, campaign.dailyClickCap, today.clicks, 1);
  }
  return uses;
}

/** The limit that one more ad would exceed; undefined if there is none. */
export function fullLimit(state: CampaignState, format: CampaignFormat): Limit | undefined {
  return limitsOf(state, format).find(({ most, used, each }) => used + each > most)?.limit;
}

/** How many more ads fit within the tightest limit. */
export function adsLeft(state: CampaignState, format: CampaignFormat): number {
  return limitsOf(state, format).reduce(
    (least, { most, used, each }) => Math.min(least, (most - used) / each),
    Number.POSITIVE_INFINITY,
  );
}
