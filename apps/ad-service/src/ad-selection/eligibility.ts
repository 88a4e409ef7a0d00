import { type CampaignFormat, isViewFormat, type Platform } from "@intermission/operator-api/campaign-words";
import type { Campaign, CampaignCreative, Targeting } from "@intermission/operator-api/campaigns";
import type { AudienceFacts } from "../viewers/audience.ts";
import { adsBehindPlan, type CampaignState, fullLimit, type Limit, type TrafficCurve } from "./campaign-state.ts";
import { type LocalTimes, localTime } from "./local-time.ts";

/** A request for an ad for one user. A user property that is unknown matches no target on that property. */
export interface AdRequest {
  format: CampaignFormat;
  bot: {
    botId: string;
    category: string | null;
    timeZone: string;
    blockedCategories: readonly string[];
    blockedAdvertisers: readonly string[];
  };
  user: AudienceFacts;
  /** When the user was shown or followed ads of campaigns that have a user cap. */
  seen: ReadonlyMap<string, readonly Date[]>;
  /** Creatives to leave out: their VAST tag has just returned no ad, or this viewer's player could not play them. */
  without?: ReadonlySet<string>;
}

/** The platform that the user agent names; undefined if it names none. */
export function platformOf(userAgent: string | undefined): Platform | undefined {
  if (userAgent === undefined) return undefined;
  if (/Android/i.test(userAgent)) return "android";
  if (/iPhone|iPad|iPod/i.test(userAgent)) return "ios";
  return /Windows NT|Macintosh|X11|Linux/i.test(userAgent) ? "desktop" : undefined;
}

/** Former codes, which Java and old browsers send, by CLDR's aliases. `Intl.Locale` knows them, and takes 9 µs. */
const renamedLanguages: Readonly<Record<string, string>> = {
  in: "id",
  iw: "he",
  ji: "yi",
  jw: "jv",
  mo: "ro",
  sh: "sr",
  tl: "fil",
};

/** The language of a tag as ISO 639 calls it today: `pt` for `pt-BR`, `id` for `in`, which Android sends. */
export function languageOf(tag: string | undefined): string | undefined {
  const [language = ""] = (tag ?? "")
    .trim()
    .toLowerCase()
    .split(/[-_,;]/);
  return /^[a-z]{2,3}$/.test(language) ? (renamedLanguages[language] ?? language) : undefined;
}

export type ExclusionReason =
  | "other-format"
  | "no-video"
  | "not-approved"
  | "no-vast-ad"
  | "not-started"
  | "ended"
  | "blocked-category"
  | "blocked-advertiser"
  | "other-bot"
  | "other-bot-category"
  | "excluded-bot"
  | "excluded-bot-category"
  | "other-language"
  | "other-platform"
  | "other-country"
  | "other-premium"
  | "other-hour"
  | "other-weekday"
  | Limit
  | "user-cap"
  | "ahead-of-plan";

export interface Moment {
  now: Date;
  curve: TrafficCurve;
  localTimes: LocalTimes;
}

/** Why a campaign does not fit the request; undefined if it may be chosen. Cheap checks that often fail come first. */
export function exclusionReason(state: CampaignState, request: AdRequest, moment: Moment): ExclusionReason | undefined {
  const { campaign } = state;
  const { format } = request;
  if (!campaign.formats.includes(format)) return "other-format";
  if (isViewFormat(format)) {
    if (!campaign.creatives.some(({ isActive }) => isActive)) return "no-video";
    if (!campaign.creatives.some(isShown)) return "not-approved";
    if (hasOnlyFailedVideos(campaign, request.without)) return "no-vast-ad";
  }
  return (
    outOfTime(campaign, moment.now) ??
    blockedByBot(campaign, request.bot) ??
    offTarget(campaign.targeting, request, moment) ??
    fullLimit(state, format) ??
    (isUserCapped(campaign, request, moment.now) ? "user-cap" : undefined) ??
    (isOverPlan(state, request, moment) ? "ahead-of-plan" : undefined)
  );
}

function hasOnlyFailedVideos({ creatives }: Campaign, without: AdRequest["without"]): boolean {
  if (!without || without.size === 0) return false;
  return creatives.every((creative) => !isShown(creative) || without.has(creative.creativeId));
}

/** Whether a creative of a campaign may be shown at all. */
export function isShown({ isActive, isApproved }: CampaignCreative): boolean {
  return isActive && isApproved;
}

export function outOfTime({ startsAt, endsAt }: Campaign, now: Date): "not-started" | "ended" | undefined {
  if (startsAt && now < startsAt) return "not-started";
  return endsAt && now >= endsAt ? "ended" : undefined;
}

function blockedByBot({ category, advertiser }: Campaign, bot: AdRequest["bot"]): ExclusionReason | undefined {
  if (category !== null && bot.blockedCategories.includes(category)) return "blocked-category";
  return bot.blockedAdvertisers.includes(advertiser) ? "blocked-advertiser" : undefined;
}

function offTarget(
  target: Targeting,
  { bot, user }: AdRequest,
  { now, localTimes }: Moment,
): ExclusionReason | undefined {
  if (target.bots && !target.bots.includes(bot.botId)) return "other-bot";
  if (target.excludedBots?.includes(bot.botId)) return "excluded-bot";
  if (target.botCategories && !includes(target.botCategories, bot.category)) return "other-bot-category";
  if (target.excludedBotCategories && includes(target.excludedBotCategories, bot.category))
    return "excluded-bot-category";
  if (target.languages && !includes(target.languages, user.language)) return "other-language";
  if (target.platforms && !includes(target.platforms, user.platform)) return "other-platform";
  if (target.countries && !includes(target.countries, user.country)) return "other-country";
  if (target.premium !== undefined && user.isPremium !== target.premium) return "other-premium";
  if (!target.hours && !target.weekdays) return undefined;
  const local = localTime(localTimes, bot.timeZone, now);
  if (target.hours && !target.hours.includes(local.hour)) return "other-hour";
  return target.weekdays && !target.weekdays.includes(local.weekday) ? "other-weekday" : undefined;
}

function includes(list: readonly string[], value: string | null | undefined): boolean {
  return value !== null && value !== undefined && list.includes(value);
}

function isUserCapped({ campaignId, userCap, userCapSeconds }: Campaign, { seen }: AdRequest, now: Date): boolean {
  if (userCap === null || userCapSeconds === null) return false;
  const since = now.getTime() - userCapSeconds * 1000;
  const counted = (seen.get(campaignId) ?? []).filter((at) => at.getTime() > since);
  return counted.length >= userCap;
}

/** A campaign that is even a fraction of an ad behind its plan is not ahead of it. */
function isOverPlan(state: CampaignState, { format }: AdRequest, moment: Moment): boolean {
  const behind = adsBehindPlan(state, format, moment);
  return behind !== undefined && behind <= 0;
}
