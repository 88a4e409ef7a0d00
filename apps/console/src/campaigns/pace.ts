import type { Campaign, DeliveredSoFar } from "@intermission/operator-api/campaigns";

const DAY_MS = 86_400_000;

/**
 * How far a campaign with a total limit and an end is, beside how far its time is: 1 is as planned, 0.5 half of it. Undefined
 * where there is no plan, or the plan has not begun.
 */
export function paceOf(
  {
    startsAt,
    createdAt,
    endsAt,
    deliveredShare,
  }: Pick<Campaign, "startsAt" | "createdAt" | "endsAt"> & Pick<DeliveredSoFar, "deliveredShare">,
  now: number,
): number | undefined {
  if (endsAt === null || deliveredShare === null) return undefined;
  const start = (startsAt ?? createdAt).getTime();
  const elapsed = (Math.min(now, endsAt.getTime()) - start) / (endsAt.getTime() - start);
  return elapsed > 0 && Number.isFinite(elapsed) ? deliveredShare / elapsed : undefined;
}

/** Whole days until the end, 0 on the last one; undefined without an end. */
export function daysLeft({ endsAt }: Pick<Campaign, "endsAt">, now: number): number | undefined {
  return endsAt === null ? undefined : Math.max(0, Math.floor((endsAt.getTime() - now) / DAY_MS));
}

/** What a campaign does now: its status, and where an active one does not run, why. */
export type CampaignPhase =
  | "running"
  | "planned"
  | "ended"
  | "spent"
  | "unfunded"
  | "unapproved"
  | "stopped"
  | "paused"
  | "archived";

type Phased = Pick<
  Campaign,
  "status" | "startsAt" | "endsAt" | "formats" | "viewPriceMicros" | "clickPriceMicros" | "creatives"
> &
  Omit<DeliveredSoFar, "delivered">;

export function phaseOf(campaign: Phased, now: number): CampaignPhase {
  const { status, startsAt, endsAt, budgetLeftMicros, deliveredShare, advertiserLeftMicros } = campaign;
  if (status !== "active") return status;
  if (startsAt !== null && startsAt.getTime() > now) return "planned";
  if (endsAt !== null && endsAt.getTime() <= now) return "ended";
  if (campaign.isAdvertiserStopped) return "stopped";
  // What is left pays for no further ad.
  const price = cheapestAd(campaign);
  const isTooLittle = budgetLeftMicros !== null && budgetLeftMicros < Math.max(1, price);
  if (isTooLittle || (deliveredShare ?? 0) >= 1) return "spent";
  // What is free needs no money.
  if (advertiserLeftMicros !== null && advertiserLeftMicros < price) return "unfunded";
  return canShowAds(campaign) ? "running" : "unapproved";
}

/** A direct link needs no creative. */
function canShowAds({ formats, creatives }: Phased): boolean {
  return formats.includes("direct_link") || creatives.some(({ isActive, isApproved }) => isActive && isApproved);
}

function cheapestAd({ formats, viewPriceMicros, clickPriceMicros }: Phased): number {
  const prices = { rewarded: viewPriceMicros, direct_link: clickPriceMicros };
  return Math.min(...formats.map((format) => prices[format]));
}
