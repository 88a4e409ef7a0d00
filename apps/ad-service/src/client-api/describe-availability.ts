import type { UnavailableReason } from "@intermission/ad-core/client-api";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { findUnfinishedViews } from "../ad-sessions/find-unfinished-views.ts";
import type { Bot } from "../bots/rows.ts";
import { findViewer } from "../viewers/find-viewer.ts";
import { limitOfViewer } from "../viewers/limit-of-viewer.ts";

export type Availability =
  | { outcome: "available" }
  | { outcome: "unavailable"; reason: UnavailableReason; availableAt: Date | undefined };

/** Whether a user could begin to earn now. A hint for the bot's button: what decides is the opening itself. */
export async function describeAvailability(
  { database, campaigns }: { database: AdDatabase; campaigns: Pick<CampaignSnapshot, "candidates"> },
  { bot, userId, now }: { bot: Bot; userId: string; now: Date },
): Promise<Availability> {
  const id = { botId: bot.botId, userId };
  const viewer = await findViewer(database, id);
  const unfinished = await findUnfinishedViews(database, { ...id, code: "", now });
  const limit = limitOfViewer(viewer, bot, now, unfinished);
  if (limit.outcome === "limited") {
    return { outcome: "unavailable", reason: limit.reason, availableAt: limit.availableAt };
  }
  const hasAd = campaigns.candidates("rewarded").length > 0 || campaigns.candidates("direct_link").length > 0;
  return hasAd ? { outcome: "available" } : { outcome: "unavailable", reason: "no-ad", availableAt: undefined };
}
