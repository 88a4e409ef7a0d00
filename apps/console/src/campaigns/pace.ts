import { type CampaignPhase, campaignPhase } from "@intermission/operator-api/campaign-phase";
import type { Campaign, DeliveredSoFar } from "@intermission/operator-api/campaigns";

const DAY_MS = 86_400_000;
/** A pace says something from this part of the planned time on, and not within the first hours. */
const MIN_ELAPSED = { share: 0.02, ms: 2 * 3_600_000 };

/**
 * How far a campaign with a total limit and an end is, beside how far its time is: 1 is as planned, 0.5 half of it. Undefined
 * where there is no plan, or too little of its time is over to say.
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
  const elapsedMs = Math.min(now, endsAt.getTime()) - start;
  const elapsed = elapsedMs / (endsAt.getTime() - start);
  if (!(elapsed > 0) || !Number.isFinite(elapsed)) return undefined;
  const isEarly = elapsed < 1 && (elapsed < MIN_ELAPSED.share || elapsedMs < MIN_ELAPSED.ms);
  return isEarly ? undefined : deliveredShare / elapsed;
}

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
