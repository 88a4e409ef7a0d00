import type { Campaign } from "../campaigns/rows.ts";
import type { CampaignFormat } from "../campaigns/schema.ts";

/** What was delivered and charged: views and clicks in numbers, spend in micros. */
export interface Delivered {
  views: number;
  clicks: number;
  spentMicros: number;
}

/** A campaign that may run, and how far it is. */
export interface CampaignState {
  readonly campaign: Campaign;
  /** Of this UTC day, and of the days before it. */
  today: Delivered;
  earlier: Delivered;
  /** Views that were opened lately and have not ended: they are held against every limit, as if they had been completed. */
  viewsInFlight: number;
}

export type Limit =
  | "total-budget"
  | "daily-budget"
  | "total-view-cap"
  | "daily-view-cap"
  | "total-click-cap"
  | "daily-click-cap";

/** A limit, how much of it is used or held, and what one more ad of the format takes. */
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
  const uses: [Limit, boolean, number | null, number, number][] = [
    ["total-budget", false, campaign.totalBudgetMicros, earlier.spentMicros + spent, price],
    ["daily-budget", true, campaign.dailyBudgetMicros, spent, price],
    ["total-view-cap", false, campaign.totalViewCap, earlier.views + views, isView ? 1 : 0],
    ["daily-view-cap", true, campaign.dailyViewCap, views, isView ? 1 : 0],
    ["total-click-cap", false, campaign.totalClickCap, earlier.clicks + today.clicks, isView ? 0 : 1],
    ["daily-click-cap", true, campaign.dailyClickCap, today.clicks, isView ? 0 : 1],
  ];
  return uses.flatMap(([limit, isDaily, most, used, each]) =>
    most === null || each === 0 ? [] : [{ limit, isDaily, most, used, each }],
  );
}

/** The limit that leaves no room for one more; undefined where there is room. */
export function fullLimit(state: CampaignState, format: CampaignFormat): Limit | undefined {
  return limitsOf(state, format).find(({ most, used, each }) => used + each > most)?.limit;
}

/** Whether what other nodes do meanwhile could fill a limit: then the database is asked before an ad is given. */
export function isNearLimit(state: CampaignState, format: CampaignFormat): boolean {
  return limitsOf(state, format).some(({ most, used, each }) => most - used < each * NEAR);
}
/** More ads than any number of nodes gives within one refresh of their snapshots. */
const NEAR = 20_000;
