import { type CampaignPhase, campaignPhase } from "@intermission/operator-api/campaign-phase";
import type { Campaign } from "@intermission/operator-api/campaigns";

const DAY_MS = 86_400_000;
/** Whole days until the end, 0 on the last one; undefined without an end. */
export function daysLeft({ endsAt }: Pick<Campaign, "endsAt">, now: number): number | undefined {
  return endsAt === null ? undefined : Math.max(0, Math.floor((endsAt.getTime() - now) / DAY_MS));
}

type Phased = Omit<Parameters<typeof campaignPhase>[0], "hasCreative"> & Pick<Campaign, "creatives">;

/** What a campaign of the list does now. */
export function phaseOf(campaign: Phased, now: number): CampaignPhase {
  const hasCreative = campaign.creatives.some(({ isActive, isApproved }) => isActive && isApproved);
  return campaignPhase({ ...campaign, hasCreative }, now);
}
