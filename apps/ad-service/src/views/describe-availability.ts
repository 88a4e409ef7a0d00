import type { AvailabilityResponse, UnavailableReason } from "@intermission/ad-core/client-api";
import type { Bot } from "@intermission/operator-api/bots";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { limitOfViewer, type ViewerEarnings, type ViewerLimitSettings } from "../ad-selection/limit-of-viewer.ts";
import { couldFill, selectUnfinishedViews, type UserAdRequest } from "../ad-selection/select-ad.ts";
import type { CampaignFormat } from "../campaigns/campaign-settings.ts";

export type Availability =
  | { outcome: "available" }
  | { outcome: "unavailable"; reason: UnavailableReason; availableAt: Date | undefined };

const readFacts = statement<
  ViewerEarnings & ViewerLimitSettings & { unfinished: number; lastActiveAt: Date | null; firstDeadline: Date | null }
>(
  "views.limit-facts-of-user",
  `select v.day::text, v.earned_today as "earnedToday", v.last_earned_at as "lastEarnedAt",
     bots.cooldown_seconds as "cooldownSeconds", bots.daily_cap as "dailyCap",
     unfinished.count::integer as unfinished, unfinished."lastActiveAt", unfinished."firstDeadline"
   from bots
   left join lateral (select * from viewers where bot_id = $1 and user_id = $2 limit 1) as v on true
   cross join lateral (${selectUnfinishedViews({ botId: "$1", userId: "$2", code: "''", now: "$3::timestamptz" })}) as unfinished
   where bots.bot_id = $1`,
);

/** Whether a user could begin to earn now. This is a hint for a button; opening the code decides. Holds nothing. */
export async function describeAvailability(
  { database, campaigns }: { database: Database; campaigns: CampaignSnapshot },
  {
    bot,
    userId,
    user = {},
    formats,
    now,
  }: { bot: Bot; userId: string; user?: UserAdRequest["user"]; formats: readonly CampaignFormat[]; now: Date },
): Promise<Availability> {
  if (bot.isSuspended) return { outcome: "unavailable", reason: "bot-suspended", availableAt: undefined };
  const [facts] = await database.run(readFacts, [bot.botId, userId, now]);
  const limit = facts && limitOfViewer(facts, { ...facts, count: facts.unfinished }, facts, now);
  if (limit?.outcome === "limited") {
    return { outcome: "unavailable", reason: limit.reason, availableAt: limit.availableAt };
  }
  for (const format of formats) {
    if (await couldFill({ database, campaigns }, { format, bot, userId, user }, now)) return { outcome: "available" };
  }
  return { outcome: "unavailable", reason: "no-ad", availableAt: undefined };
}

export function availabilityAnswer(availability: Availability): AvailabilityResponse {
  if (availability.outcome === "available") return { available: true };
  const { reason, availableAt } = availability;
  return { available: false, reason, ...(availableAt && { available_at: availableAt.toISOString() }) };
}
