import type { AvailabilityResponse, UnavailableReason } from "@intermission/ad-core/client-api";
import type { Bot } from "@intermission/operator-api/bots";
import { type CampaignFormat, isViewFormat } from "@intermission/operator-api/campaign-words";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { Choice } from "../ad-selection/choose-ad.ts";
import { likelyAd, selectUnfinishedViews, type UserAdRequest } from "../ad-selection/select-ad.ts";
import { boundsAt, boundsIn } from "../codes/code-bounds.ts";
import { buyersFor } from "../offers/auction.ts";
import {
  earnedOnDay,
  limitOfInterstitials,
  limitOfViewer,
  type UnfinishedViews,
  type ViewerEarnings,
  type ViewerInterstitials,
  type ViewerLimitSettings,
} from "../viewers/limit-of-viewer.ts";

export type Availability =
  | {
      outcome: "available";
      /** Of the viewer, from this bot, out of its daily cap. */
      earnedToday: number;
      dailyCap: number;
      /** What an opening would most likely choose; null: only buyers may have one. */
      ad: Extract<Choice, { outcome: "chosen" }> | null;
    }
  | { outcome: "unavailable"; reason: UnavailableReason; availableAt: Date | undefined };

const readFacts = statement<
  ViewerEarnings &
    ViewerLimitSettings &
    ViewerInterstitials & { unfinished: number; lastActiveAt: Date | null; firstDeadline: Date | null }
>(
  "views.limit-facts-of-user",
  `select v.day::text, v.earned_today as "earnedToday", v.last_earned_at as "lastEarnedAt",
     v.last_interstitial_at as "lastInterstitialAt", bots.interstitial_seconds as "interstitialSeconds",
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
    random = () => 0,
  }: {
    bot: Bot;
    userId: string;
    user?: UserAdRequest["user"];
    formats: readonly CampaignFormat[];
    now: Date;
    /** For the choice of the ad. */
    random?: () => number;
  },
): Promise<Availability> {
  const facts = await factsOfViewer(database, { bot, userId, now });
  // Whether an ad fits is read only where nothing else is in the way.
  const hindrance = hindranceOf(facts, now, formats);
  if (hindrance !== undefined) return hindrance;
  const earned = { earnedToday: earnedOnDay(facts, now), dailyCap: facts.dailyCap };
  for (const format of formats) {
    const ad = await likelyAd({ database, campaigns }, { format, bot, userId, user }, { now, random });
    if (ad.outcome === "chosen") return { outcome: "available", ...earned, ad };
  }
  // Whether a buyer bids is known only when the ad is opened.
  const mayBuy = formats.filter(isViewFormat).some((format) => {
    const request = { format, bot, user, seen: new Map<string, Date[]>() };
    return buyersFor(campaigns, request, { format, now }).length > 0;
  });
  return mayBuy
    ? { outcome: "available", ...earned, ad: null }
    : { outcome: "unavailable", reason: "no-ad", availableAt: undefined };
}

interface ViewerOfBot {
  bot: Bot;
  userId: string;
  now: Date;
}

async function factsOfViewer(database: Database, { bot, userId, now }: ViewerOfBot) {
  const [row] = await database.run(readFacts, [bot.botId, userId, now, ...boundsAt([now])]);
  if (!row) throw new Error(`bot ${bot.botId} has no row`);
  const { unfinished: count, lastActiveAt, firstDeadline, ...viewer } = row;
  return { ...viewer, isSuspended: bot.isSuspended, unfinished: { count, lastActiveAt, firstDeadline } };
}

/** Why no ad at all is opened for a user now, whichever campaigns run; undefined: nothing is in the way. */
export async function blockOfViewer(database: Database, viewer: ViewerOfBot & { format: CampaignFormat }) {
  const hindrance = hindranceOf(await factsOfViewer(database, viewer), viewer.now, [viewer.format]);
  return hindrance && { reason: hindrance.reason, availableAt: hindrance.availableAt ?? null };
}

export interface AvailabilityFacts extends ViewerEarnings, ViewerLimitSettings, ViewerInterstitials {
  isSuspended: boolean;
  unfinished: UnfinishedViews;
}

/** What is in the way of an ad, whichever fits the user. */
export function hindranceOf(
  facts: AvailabilityFacts,
  now: Date,
  formats: readonly CampaignFormat[] = [],
): { outcome: "unavailable"; reason: Exclude<UnavailableReason, "no-ad">; availableAt: Date | undefined } | undefined {
  if (facts.isSuspended) return { outcome: "unavailable", reason: "bot-suspended", availableAt: undefined };
  const limit = formats.includes("interstitial")
    ? limitOfInterstitials(facts, now)
    : limitOfViewer(facts, facts.unfinished, facts, now);
  if (limit.outcome === "free") return undefined;
  return { outcome: "unavailable", reason: limit.reason, availableAt: limit.availableAt };
}

export function availabilityAnswer(availability: Availability): AvailabilityResponse {
  if (availability.outcome === "available") return { available: true };
  const { reason, availableAt } = availability;
  return { available: false, reason, ...(availableAt && { available_at: availableAt.toISOString() }) };
}
