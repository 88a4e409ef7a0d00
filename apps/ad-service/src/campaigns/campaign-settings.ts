import { momentInput, telegramId } from "@intermission/ad-core/client-api";
import { type WebAddressFault, webAddressFault } from "@intermission/ad-core/web-address";
import type { ColumnsOf } from "@intermission/postgres/row-columns";
import { boundedText, shortWord } from "@intermission/server/parse-request";
import { z } from "zod";
import { finePriceRule, isPriceTooFine, microsOf } from "./amounts.ts";

const language = z.string().regex(/^[a-z]{2,3}$/, "must be a language code of two or three letters, as en");
const unique = <Item extends z.ZodType>(item: Item, most: number) =>
  z
    .array(item, "must be a list")
    .min(1, "must name at least one, or be left out")
    .max(most, `must name at most ${most}`)
    .refine((items) => new Set(items).size === items.length, "must not name anything twice");

const wholeNumber = (least: number, most: number) => {
  const message = `must be from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
};

/** The users that a campaign targets. An omitted target matches all; hours and weekdays are in the bot's time zone. */
export const targeting = z.strictObject({
  languages: unique(language, 100).optional(),
  platforms: unique(z.enum(["android", "ios", "desktop", "web"], "must be android, ios, desktop or web"), 4).optional(),
  premium: z.boolean().optional().describe("True: only users with Telegram Premium; false: only users without it."),
  bots: unique(telegramId, 1000).optional(),
  botCategories: unique(shortWord, 100).optional(),
  excludedBots: unique(telegramId, 1000).optional(),
  excludedBotCategories: unique(shortWord, 100).optional(),
  hours: unique(wholeNumber(0, 23), 24)
    .optional()
    .describe("Each hour of the day: [8, 9, 10], or over midnight [22, 23, 0, 1]."),
  weekdays: unique(wholeNumber(1, 7), 7)
    .optional()
    .describe("1 is Monday, 7 Sunday: of the moment itself, also after midnight."),
});
export type Targeting = z.infer<typeof targeting>;

export type CampaignFormat = "rewarded" | "direct_link";
/** `archived`: the campaign no longer runs, and only its statistics remain of interest. */
export type CampaignStatus = "active" | "paused" | "archived";
/** The serving order: sponsorship before standard before house. */
export type CampaignPriority = "sponsorship" | "standard" | "house";

const capForm = "must be a whole number from 1 to 1000000000000000, or none";
const cap = z.int(capForm).min(1, capForm).max(1e15, capForm).nullable();
const price = microsOf("price");
const budget = microsOf("budget").nullable();

const landingUrl = z.string().transform((url, context) => {
  const checked = checkLandingUrl(url);
  if (checked.outcome === "valid") return checked.url;
  context.addIssue({ code: "custom", message: checked.message });
  return z.NEVER;
});

/** The settings of a campaign, each checked alone. Null means none. */
export const campaignSettings = z.strictObject({
  name: boundedText(128),
  advertiser: boundedText(128).describe("Shown to the viewer as text: the company that pays for the ad."),
  priority: z.enum(["sponsorship", "standard", "house"]),
  category: shortWord.nullable(),
  pacing: z.enum(["even", "asap"]).describe("`even`: spread over the day; `asap`: as fast as requests come."),
  startsAt: momentInput.nullable(),
  endsAt: momentInput.nullable().describe("The end, exclusive: a date ends the campaign as that day begins."),
  landingUrl: landingUrl.nullable().describe("The target of a direct link, or of a video's call to action."),
  callToAction: boundedText(40).nullable().describe("The label of the button beside a video."),
  weight: z.int("must be a whole number").min(1, "must be 1 or more").max(1_000_000, "must be 1000000 at most"),
  viewPriceMicros: price.describe("The price of one completed view, in millionths of the deployment's currency."),
  clickPriceMicros: price.describe("The price of one counted click, in millionths of the deployment's currency."),
  totalBudgetMicros: budget,
  dailyBudgetMicros: budget,
  totalViewCap: cap,
  dailyViewCap: cap,
  totalClickCap: cap,
  dailyClickCap: cap,
  userCap: z
    .int("must be a whole number")
    .min(1, "must be 1 or more")
    .max(10_000, "must be 10000 at most")
    .nullable()
    .describe("The maximum of views and clicks per user within the last `userCapSeconds`."),
  userCapSeconds: z
    .int("must be whole seconds")
    .min(60, "must be a minute or more")
    .max(7_776_000, "must be 90 days at most")
    .nullable(),
  targeting,
});
export type CampaignSettings = z.infer<typeof campaignSettings>;

export const settingColumns = {
  name: "name",
  advertiser: "advertiser",
  priority: "priority",
  category: "category",
  pacing: "pacing",
  startsAt: "starts_at",
  endsAt: "ends_at",
  landingUrl: "landing_url",
  callToAction: "call_to_action",
  weight: "weight",
  viewPriceMicros: "view_price_micros",
  clickPriceMicros: "click_price_micros",
  totalBudgetMicros: "total_budget_micros",
  dailyBudgetMicros: "daily_budget_micros",
  totalViewCap: "total_view_cap",
  dailyViewCap: "daily_view_cap",
  totalClickCap: "total_click_cap",
  dailyClickCap: "daily_click_cap",
  userCap: "user_cap",
  userCapSeconds: "user_cap_seconds",
  targeting: "targeting",
} satisfies ColumnsOf<CampaignSettings>;

/** A campaign's formats cannot be changed, so that past charges keep their meaning. */
export const campaignFormats = z
  .array(z.enum(["rewarded", "direct_link"]))
  .min(1, "must be rewarded, direct_link or both")
  .refine((formats) => new Set(formats).size === formats.length, "must not name a format twice");

export const defaultSettings: Omit<CampaignSettings, "name" | "advertiser"> = {
  priority: "standard",
  category: null,
  pacing: "even",
  startsAt: null,
  endsAt: null,
  landingUrl: null,
  callToAction: null,
  weight: 1,
  viewPriceMicros: 0,
  clickPriceMicros: 0,
  totalBudgetMicros: null,
  dailyBudgetMicros: null,
  totalViewCap: null,
  dailyViewCap: null,
  totalClickCap: null,
  dailyClickCap: null,
  userCap: null,
  userCapSeconds: null,
  targeting: {},
};

/** What is wrong with a campaign, and which of its settings has to change. */
export interface CampaignFault {
  field: keyof CampaignSettings | "creativeIds";
  message: string;
}

/** The first conflict between a campaign's settings, as text for the operator; undefined if there is none. */
export function campaignFault(campaign: CampaignSettings & { formats: CampaignFormat[] }): CampaignFault | undefined {
  const { formats, landingUrl, callToAction, startsAt, endsAt, userCap, userCapSeconds } = campaign;
  if (formats.includes("direct_link") && landingUrl === null) {
    return { field: "landingUrl", message: "a direct_link campaign needs a landing URL" };
  }
  if (callToAction !== null && landingUrl === null) {
    return { field: "landingUrl", message: "a call to action needs a landing URL" };
  }
  if (startsAt && endsAt && endsAt <= startsAt) {
    return { field: "endsAt", message: "a campaign must end after it starts" };
  }
  if ((userCap === null) !== (userCapSeconds === null)) {
    return { field: "userCap", message: "a cap per user needs both a number of views and clicks and a time span" };
  }
  return formatFault(campaign) ?? finePriceFault(campaign) ?? limitFault(campaign);
}

const settingsOfFormat = {
  rewarded: ["viewPriceMicros", "totalViewCap", "dailyViewCap"],
  direct_link: ["clickPriceMicros", "totalClickCap", "dailyClickCap"],
} as const satisfies Record<CampaignFormat, readonly (keyof CampaignSettings)[]>;

const formatMessages = {
  rewarded: "is for videos, and this campaign has only direct links: it would never be charged or counted",
  direct_link:
    "is for direct links, and this campaign has only videos: it would never be charged or counted (clicks on a video's button are free)",
} satisfies Record<CampaignFormat, string>;

/** With the price or the cap of the other format, a campaign would run free or without a limit. */
function formatFault({ formats, ...settings }: CampaignSettings & { formats: CampaignFormat[] }) {
  for (const format of ["rewarded", "direct_link"] as const) {
    const field = settingsOfFormat[format].find((name) => settings[name] !== defaultSettings[name]);
    if (!formats.includes(format) && field !== undefined) return { field, message: formatMessages[format] };
  }
  return undefined;
}

/** The campaign's spend is compared with its budget in doubles, where sums of finer prices would not be exact. */
function finePriceFault(settings: CampaignSettings): CampaignFault | undefined {
  const budget = Math.max(settings.totalBudgetMicros ?? 0, settings.dailyBudgetMicros ?? 0);
  const field = (["viewPriceMicros", "clickPriceMicros"] as const).find((name) =>
    isPriceTooFine(settings[name], budget),
  );
  return field && { field, message: finePriceRule };
}

const limits = [
  { daily: "dailyBudgetMicros", total: "totalBudgetMicros", totalFlag: "--total-budget" },
  { daily: "dailyViewCap", total: "totalViewCap", totalFlag: "--total-view-cap" },
  { daily: "dailyClickCap", total: "totalClickCap", totalFlag: "--total-click-cap" },
] as const;

/** A daily limit above the total can never be reached, so one of them is a mistake that may cost money. */
function limitFault(settings: CampaignSettings): CampaignFault | undefined {
  for (const { daily, total, totalFlag } of limits) {
    const [ofDay, inAll] = [settings[daily], settings[total]];
    if (ofDay !== null && inAll !== null && ofDay > inAll) {
      return { field: daily, message: `must not be above the total (${totalFlag})` };
    }
  }
  return undefined;
}

export type LandingUrlCheck = { outcome: "valid"; url: string } | { outcome: "invalid"; message: string };

const LONGEST = 2048;

const faults = {
  "not-an-address": "is not an address; write it in full, as https://example.com/page",
  scheme: "must begin with https:// or http://",
  "user-info": "must not hold a user name or password",
} satisfies Record<WebAddressFault, string>;

/** Checks a page that a viewer may be sent to: http or https (including t.me), without a user name or password. */
export function checkLandingUrl(text: string): LandingUrlCheck {
  if (text.length > LONGEST) return invalid(`is longer than ${LONGEST} characters`);
  const fault = webAddressFault(text, { isPlainHttpAllowed: true });
  if (fault !== undefined) return invalid(faults[fault]);
  return { outcome: "valid", url: new URL(text).href };
}

function invalid(fault: string): LandingUrlCheck {
  return { outcome: "invalid", message: `the landing URL ${fault}` };
}

export interface LandingMacros {
  click_id: string;
  code: string;
  bot_id: string;
  campaign_id: string;
  creative_id: string;
}

export const knownMacros = [
  "click_id",
  "code",
  "bot_id",
  "campaign_id",
  "creative_id",
] as const satisfies readonly (keyof LandingMacros)[];

/** URL parsers write the braces of a path as %7B and %7D. */
const MACRO = new RegExp(`(?:\\{|%7B)(${knownMacros.join("|")})(?:\\}|%7D)`, "gi");

/** The landing page with its macros filled in, percent-encoded; never in scheme or host. */
export function landingAddress(landingUrl: string, macros: LandingMacros): string {
  const { origin } = new URL(landingUrl);
  const rest = landingUrl.slice(origin.length);
  if (!landingUrl.startsWith(origin)) throw new Error("a stored landing URL is not in its canonical form");
  return (
    origin +
    rest.replace(MACRO, (_macro, name: string) => encodeURIComponent(macros[name.toLowerCase() as keyof LandingMacros]))
  );
}
