import type { UnavailableReason } from "@intermission/ad-core/client-api";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { couldFill } from "../ad-selection/select-ad.ts";
import { findUnfinishedViews } from "../ad-sessions/find-unfinished-views.ts";
import type { Bot } from "../bots/rows.ts";
import { findViewer } from "../viewers/find-viewer.ts";
import { limitOfViewer } from "../viewers/limit-of-viewer.ts";

export type Availability =
  | { outcome: "available" }
  | { outcome: "unavailable"; reason: UnavailableReason; availableAt: Date | undefined };

/** Whether a user could begin to earn now. A hint for the bot's button: what decides is the opening itself. */
export async function describeAvailability(
  { database, campaigns }: { database: AdDatabase; campaigns: CampaignSnapshot },
  { bot, userId, now }: { bot: Bot; userId: string; now: Date },
): Promise<Availability> {
  const id = { botId: bot.botId, userId };
  const viewer = await findViewer(database, id);
  const unfinished = await findUnfinishedViews(database, { ...id, code: "", now });
  const limit = limitOfViewer(viewer, bot, now, unfinished);
  if (limit.outcome === "limited") {
    return { outcome: "unavailable", reason: limit.reason, availableAt: limit.availableAt };
  }
  const formats = ["rewarded", "direct_link"] as const;
  for (const format of formats) {
    if (await couldFill({ database, campaigns }, { format, bot, userId, user: {} }, now))
      return { outcome: "available" };
  }
  return { outcome: "unavailable", reason: "no-ad", availableAt: undefined };
}
