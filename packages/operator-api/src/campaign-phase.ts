import { type campaignPhases, isViewFormat } from "./campaign-words.ts";
import type { Campaign, DeliveredSoFar } from "./campaigns.ts";

export type CampaignPhase = (typeof campaignPhases)[number];

type Phased = Pick<
  Campaign,
  | "status"
  | "pausedBy"
  | "review"
  | "startsAt"
  | "endsAt"
  | "formats"
  | "viewPriceMicros"
  | "clickPriceMicros"
  | "taskPriceMicros"
> &
  Omit<DeliveredSoFar, "delivered"> & {
    /** One that is attached, active and approved. */
    hasCreative: boolean;
  };

/** What a campaign does now: its status, and where an active one does not run, why. */
export function campaignPhase(campaign: Phased, now: number): CampaignPhase {
  const { status, pausedBy, review, startsAt, endsAt, budgetLeftMicros, deliveredShare, advertiserLeftMicros } =
    campaign;
  if (status === "archived") return status;
  if (review !== null && review !== "approved") return review;
  if (status === "paused") return pausedBy === "advertiser" ? "paused-by-advertiser" : "paused-by-operator";
  if (startsAt !== null && startsAt.getTime() > now) return "planned";
  if (endsAt !== null && endsAt.getTime() <= now) return "ended";
  if (campaign.isAdvertiserStopped) return "stopped";
  // What is left pays for no further ad.
  const price = cheapestAd(campaign);
  const isTooLittle = budgetLeftMicros !== null && budgetLeftMicros < Math.max(1, price);
  if (isTooLittle || (deliveredShare ?? 0) >= 1) return "spent";
  // What is free needs no money.
  if (advertiserLeftMicros !== null && advertiserLeftMicros < price) return "unfunded";
  return campaign.hasCreative || !campaign.formats.every(isViewFormat) ? "running" : "unapproved";
}

function cheapestAd({ formats, viewPriceMicros, clickPriceMicros, taskPriceMicros }: Phased): number {
  const prices = {
    rewarded: viewPriceMicros,
    interstitial: viewPriceMicros,
    direct_link: clickPriceMicros,
    task: taskPriceMicros,
  };
  return Math.min(...formats.map((format) => prices[format]));
}
