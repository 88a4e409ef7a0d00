import type { AvailabilityResponse, UnavailableReason } from "@intermission/ad-core/client-api";
import type { Bot } from "@intermission/operator-api/bots";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import {
  limitOfViewer,
  type UnfinishedViews,
  type ViewerEarnings,
  type ViewerLimitSettings,
} from "../ad-selection/limit-of-viewer.ts";
import { couldFill, selectUnfinishedViews, type UserAdRequest } from "../ad-selection/select-ad.ts";
import type { CampaignFormat } from "../campaigns/campaign-settings.ts";
import { boundsAt, boundsIn } from "../codes/view-ids.ts";

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
   cross join lateral (${selectUnfinishedViews({ botId: "$1", userId: "$2", code: "''", now: "$3::timestamptz", ...boundsIn("$4", "$5") })}) as unfinished
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
  const [row] = await database.run(readFacts, [bot.botId, userId, now, ...boundsAt([now])]);
  if (!row) throw new Error(`bot ${bot.botId} has no row`);
  const { unfinished: count, lastActiveAt, firstDeadline, ...viewer } = row;
  const facts = { ...viewer, isSuspended: bot.isSuspended, unfinished: { count, lastActiveAt, firstDeadline } };
  // Whether an ad fits is read only where nothing else is in the way.
  const withAd = judgeAvailability({ ...facts, hasAd: true }, now);
  if (withAd.outcome === "unavailable") return withAd;
  for (const format of formats) {
    if (await couldFill({ database, campaigns }, { format, bot, userId, user }, now)) return withAd;
  }
  return judgeAvailability({ ...facts, hasAd: false }, now);
}

export interface AvailabilityFacts extends ViewerEarnings, ViewerLimitSettings {
  isSuspended: boolean;
  unfinished: UnfinishedViews;
  /** An ad of any of the formats fits the user. */
  hasAd: boolean;
}

export function judgeAvailability(facts: AvailabilityFacts, now: Date): Availability {
  if (facts.isSuspended) return { outcome: "unavailable", reason: "bot-suspended", availableAt: undefined };
  const limit = limitOfViewer(facts, facts.unfinished, facts, now);
  if (limit.outcome === "limited") {
    return { outcome: "unavailable", reason: limit.reason, availableAt: limit.availableAt };
  }
  return facts.hasAd ? { outcome: "available" } : { outcome: "unavailable", reason: "no-ad", availableAt: undefined };
}

export function availabilityAnswer(availability: Availability): AvailabilityResponse {
  if (availability.outcome === "available") return { available: true };
  const { reason, availableAt } = availability;
  return { available: false, reason, ...(availableAt && { available_at: availableAt.toISOString() }) };
}
