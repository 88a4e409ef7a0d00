import type { Transaction } from "@intermission/postgres/open-database";
import { readVastAd } from "../vast/trackers.ts";
import type { VastAd } from "../vast/vast-ad.ts";
import type { AdView } from "./ad-view.ts";

/**
 * An offer that waited longer may be of a campaign that is over, or of an ad that its network has replaced. Codes of the usual
 * lifetime, with the time to finish a view, end before.
 */
const MAX_AGE_MS = 90 * 60_000;

/** Whether an ad was offered so long ago that it may not be started; of a VAST ad, also by its own `Expires`. */
export function isTooOld(
  { state, openedAt }: Pick<AdView, "state" | "openedAt">,
  ad: Pick<VastAd, "expiresAt"> | undefined,
  now: Date,
): boolean {
  if (state !== "opened") return false;
  const isExpired = ad?.expiresAt !== undefined && Date.parse(ad.expiresAt) <= now.getTime();
  return isExpired || now.getTime() - openedAt.getTime() > MAX_AGE_MS;
}

export async function isStaleOffer(database: Transaction, view: AdView, now: Date): Promise<boolean> {
  if (view.state !== "opened") return false;
  return isTooOld(view, view.isVast ? await readVastAd(database, view) : undefined, now);
}
