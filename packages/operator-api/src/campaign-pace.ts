import type { Campaign, DeliveredSoFar } from "./campaigns.ts";

/** A pace says something from this part of the planned time on, and not within the first hours. */
const MIN_ELAPSED = { share: 0.02, ms: 2 * 3_600_000 };

type Planned = Pick<Campaign, "startsAt" | "createdAt" | "endsAt"> & Pick<DeliveredSoFar, "deliveredShare">;

/**
 * How far a campaign with a total limit and an end is, beside how far its time is: 1 is as planned, 0.5 half of it. Undefined
 * where there is no plan, or too little of its time is over to say.
 */
export function campaignPace(
  { startsAt, createdAt, endsAt, deliveredShare }: Planned,
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
