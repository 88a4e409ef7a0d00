import { webForm } from "@intermission/ad-core/telegram-link";
import { unescapedAddress, type WebAddressFault, webAddressFault } from "@intermission/ad-core/web-address";
import { momentInput, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { microsOf } from "./amounts.ts";
import {
  type CampaignFormat,
  campaignFormats,
  campaignPhases,
  campaignPriorities,
  campaignSorts,
  campaignStatuses,
  pacings,
  platforms,
  taskPayments,
} from "./campaign-words.ts";
import { reviewStates } from "./creative-words.ts";
import { fieldFault, forms } from "./field-forms.ts";
import {
  boundedText,
  confirmation,
  find,
  idempotencyKey,
  micros,
  moment,
  namesSetting,
  next,
  nothingToChange,
  ofReadVersion,
  shortWord,
  sortBy,
  total,
  wholeList,
} from "./fields.ts";
import { formKinds } from "./form-kinds.ts";
import type { OperatorRoutes } from "./route.ts";
import { countryCode, languageCode } from "./standard-codes.ts";
import { termsInput, withLimitOnlyOnCredit } from "./terms.ts";

const unique = <Item extends z.ZodType>(item: Item, max: number) =>
  z
    .array(item, "must be a list")
    .min(1, "must name at least one, or be left out")
    .max(max, `must name at most ${max}`)
    .refine((items) => new Set(items).size === items.length, {
      error: "must not name anything twice",
      params: fieldFault("TWICE"),
    });

const wholeNumber = (min: number, max: number) => {
  const message = `must be from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
};

/** The users that a campaign targets. An omitted target matches all; hours and weekdays are in the bot's time zone. */
export const targeting = z.strictObject({
  languages: unique(languageCode, 100).register(formKinds, { kind: "languages" }).optional(),
  platforms: unique(z.enum(platforms, `must be one of ${platforms.join(", ")}`), platforms.length).optional(),
  countries: unique(countryCode, 249)
    .register(formKinds, { kind: "countries" })
    .optional()
    .describe("ISO 3166, as DE. Needs a source of countries in the settings."),
  premium: z.boolean().optional().describe("True: only users with Telegram Premium; false: only users without it."),
  bots: unique(telegramId, 1000).register(formKinds, { kind: "bots" }).optional(),
  botCategories: unique(shortWord, 100).optional(),
  excludedBots: unique(telegramId, 1000).register(formKinds, { kind: "bots" }).optional(),
  excludedBotCategories: unique(shortWord, 100).optional(),
  hours: unique(wholeNumber(0, 23), 24)
    .register(formKinds, { kind: "hours" })
    .optional()
    .describe("Each hour of the day: [8, 9, 10], or over midnight [22, 23, 0, 1]."),
  weekdays: unique(wholeNumber(1, 7), 7)
    .register(formKinds, { kind: "weekdays" })
    .optional()
    .describe("1 is Monday, 7 Sunday: of the moment itself, also after midnight."),
});
export type Targeting = z.infer<typeof targeting>;

const capForm = "must be a whole number from 1 to 1000000000000000, or none";
const cap = z.int(capForm).min(1, capForm).max(1e15, capForm).nullable();
const price = microsOf("price");
const budget = microsOf("budget").nullable();

const landingUrl = z.string().transform((url, context) => {
  const checked = checkLandingUrl(url);
  if (checked.outcome === "valid") return checked.url;
  context.addIssue({ code: "custom", message: checked.message, params: checked.fault });
  return z.NEVER;
});
landingUrl.register(formKinds, { kind: "address" });

/** The settings of a campaign, each checked alone. Null means none. */
export const campaignSettings = z.strictObject({
  name: boundedText(128),
  advertiser: boundedText(128).describe("Shown to the viewer as text: the company that pays for the ad."),
  priority: z.enum(campaignPriorities),
  category: shortWord.nullable(),
  pacing: z.enum(pacings).describe("`even`: spread over the day; `asap`: as fast as requests come."),
  startsAt: momentInput.nullable(),
  endsAt: momentInput.nullable().describe("The end, exclusive: a date ends the campaign as that day begins."),
  landingUrl: landingUrl.nullable().describe("The target of a direct link, or of a video's call to action."),
  callToAction: boundedText(40).nullable().describe("The label of the button beside a video."),
  weight: z.int("must be a whole number").min(1, "must be 1 or more").max(1_000_000, "must be 1000000 at most"),
  viewPriceMicros: price.describe(
    "The price of one completed view, or of one interstitial, in millionths of the deployment's currency.",
  ),
  clickPriceMicros: price.describe("The price of one counted click, in millionths of the deployment's currency."),
  skipAfterSeconds: wholeNumber(0, 15).describe("An interstitial may be skipped after so many seconds."),
  chargedAfterSeconds: wholeNumber(1, 30)
    .nullable()
    .describe("An interstitial is charged once it was in view for so long; null: until it may be skipped."),
  taskPriceMicros: price.describe(
    "The price of one user who joins the channel and stays, or starts the bot, in millionths of the deployment's currency.",
  ),
  taskChatId: z
    .string()
    .nullable()
    .describe("The id of the channel that users join, as -1001234567890: one of those that a task bot knows."),
  taskStartBot: z
    .string()
    .regex(forms.USERNAME, "must be the bot's username without the @")
    .nullable()
    .describe(
      "In place of a channel: the username of the advertiser's bot that users start, without the @. It reports each start by postback.",
    ),
  taskHoldDays: wholeNumber(0, 90).describe("A user who leaves within so many days is not paid, or is taken back."),
  taskPaidAt: z
    .enum(taskPayments)
    .describe("`joined`: paid at once, and taken back if the user leaves too early; `kept`: paid after these days."),
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

/** What a new campaign has where the request names nothing else. */
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
  skipAfterSeconds: 5,
  chargedAfterSeconds: null,
  taskPriceMicros: 0,
  taskChatId: null,
  taskStartBot: null,
  taskHoldDays: 7,
  taskPaidAt: "joined",
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

/** Settings that only some formats have: with those of another, a campaign would run free or without a limit. */
export const settingsOfFormat = {
  rewarded: ["viewPriceMicros", "totalViewCap", "dailyViewCap"],
  direct_link: ["clickPriceMicros", "totalClickCap", "dailyClickCap"],
  interstitial: ["viewPriceMicros", "totalViewCap", "dailyViewCap", "skipAfterSeconds", "chargedAfterSeconds"],
  task: ["taskPriceMicros", "taskChatId", "taskStartBot", "taskHoldDays", "taskPaidAt"],
} as const satisfies Record<CampaignFormat, readonly (keyof CampaignSettings)[]>;

/** A campaign's formats cannot be changed, so that past charges keep their meaning. */
export const formatsOf = <const Format extends CampaignFormat>(formats: readonly Format[]) =>
  z
    .array(z.enum(formats))
    .min(1, `must name at least one of ${formats.join(", ")}`)
    .refine((named) => new Set(named).size === named.length, {
      error: "must not name a format twice",
      params: fieldFault("TWICE"),
    });
const formatsOfCampaign = formatsOf(campaignFormats);

/** A creative with the settings of its campaign. */
const campaignCreative = z.object({
  creativeId: z.string(),
  weight: z.int(),
  label: z.string().nullable().describe("Replaces the advertiser's name."),
  callToAction: z.string().nullable().describe("Replaces the campaign's call to action."),
  isActive: z.boolean(),
  isApproved: z.boolean().describe("Whether it may be shown, by its review."),
});
export type CampaignCreative = z.infer<typeof campaignCreative>;

/** The cause of a pause: the operator, the advertiser, or a missing approval. */
export const pausers = ["operator", "advertiser", "review"] as const;

export const campaign = z.object({
  ...campaignSettings.shape,
  campaignId: z.string(),
  advertiserId: z.string(),
  formats: formatsOfCampaign,
  status: z.enum(campaignStatuses),
  pausedBy: z
    .enum(pausers)
    .nullable()
    .describe("Only the operator resumes what the operator has paused. Null: the campaign is not paused."),
  review: z
    .enum(reviewStates)
    .nullable()
    .describe(
      "Of a campaign that its advertiser has drafted: it runs once it is `approved`. Null: the operator's own.",
    ),
  reviewReason: z.string().nullable().describe("Why it was refused."),
  submittedAt: moment.nullable(),
  approvedAt: moment.nullable().describe("From the first approval on, its advertiser only raises the prices."),
  startsAt: moment.nullable(),
  endsAt: moment.nullable(),
  totalBudgetMicros: micros.nullable(),
  dailyBudgetMicros: micros.nullable(),
  landingUrl: z.string().nullable(),
  // Codes were checked when they were set, by the names that the server's runtime knows.
  targeting: targeting.extend({
    languages: z.array(z.string()).optional(),
    countries: z.array(z.string()).optional(),
  }),
  creatives: z.array(campaignCreative),
  createdAt: moment,
  updatedAt: moment,
});
export type Campaign = z.infer<typeof campaign>;

/** How far a campaign is, in the list of campaigns. */
const deliveredSoFar = z.object({
  delivered: z.object({
    views: z.int(),
    clicks: z.int(),
    spentMicros: z.number().describe("Charges without the refunded ones."),
  }),
  budgetLeftMicros: z
    .number()
    .nullable()
    .describe("Of the total budget, or without one, of today's (UTC); null without a budget."),
  deliveredShare: z
    .number()
    .nullable()
    .describe("The used part of the total limit that is nearest to its end, 0 to 1; null without a total limit."),
  advertiserLeftMicros: z
    .number()
    .nullable()
    .describe("What its advertiser may still spend on all campaigns, with the credit; null: there is no limit."),
  isAdvertiserStopped: z.boolean().describe("Its advertiser is archived: none of the advertiser's campaigns runs."),
});
export type DeliveredSoFar = z.infer<typeof deliveredSoFar>;

/** How a creative is shown in a campaign. */
export const creativeSettings = z.strictObject({
  weight: z
    .int("must be a whole number")
    .min(1, "must be 1 or more")
    .max(1_000_000, "must be 1000000 at most")
    .optional(),
  label: boundedText(128).nullable().optional(),
  callToAction: boundedText(40).nullable().optional(),
});
export type CreativeSettings = z.infer<typeof creativeSettings>;

const someSettings = campaignSettings.partial();
const changes = someSettings
  .refine(namesSetting, nothingToChange)
  .meta({ examples: [{ dailyBudgetMicros: 8_000_000, endsAt: null }] });
const draft = someSettings
  .extend({
    ...campaignSettings.pick({ name: true, advertiser: true }).shape,
    formats: formatsOfCampaign,
    creativeIds: z.array(z.string().max(64)).max(100).register(formKinds, { kind: "videos" }).default([]),
    newAdvertiser: withLimitOnlyOnCredit(z.strictObject(termsInput))
      .optional()
      .describe("The terms of an advertiser that this campaign makes by its name; prepaid without them."),
    idempotencyKey,
  })
  .meta({
    examples: [
      {
        advertiser: "Shop",
        name: "Spring sale",
        formats: ["rewarded"],
        creativeIds: ["crv_5dQ1"],
        viewPriceMicros: 12_000,
        dailyBudgetMicros: 5_000_000,
        targeting: { languages: ["en"] },
      },
    ],
  });
/** What a forecast asks of a campaign of videos. Without a setting, what a new campaign has. */
const forecastOf = campaignSettings
  .pick({
    targeting: true,
    priority: true,
    weight: true,
    viewPriceMicros: true,
    dailyBudgetMicros: true,
    totalBudgetMicros: true,
    dailyViewCap: true,
    totalViewCap: true,
  })
  .partial()
  .extend({
    campaignId: z.string().max(64).optional().describe("Of a campaign that exists: it does not compete with itself."),
  })
  .meta({ examples: [{ targeting: { languages: ["de"] }, viewPriceMicros: 12_000, totalBudgetMicros: 100_000_000 }] });

/** What holds a campaign's views a day: the users who ask for an ad, or a limit of its own. */
export const forecastLimits = ["traffic", "daily-budget", "daily-views"] as const;

const params = z.object({ campaignId: z.string().max(64) });
const creativeParams = params.extend({ creativeId: z.string().max(64) });

export const campaignRoutes = {
  addCampaign: {
    method: "POST",
    path: "/campaigns",
    access: grants.staff,
    changes: "campaign",
    description: "Adds a campaign; it serves as soon as it is active and has a creative.",
    query: confirmation,
    body: draft,
    status: 201,
    answer: campaign,
    refusals: [409],
  },
  listCampaigns: {
    method: "GET",
    path: "/campaigns",
    access: { ...grants.readers, ...grants.ownAdvertiser },
    description: "Lists the campaigns and how far each is, the archived ones only when asked for.",
    query: z.object({
      ...wholeList,
      archived: z.stringbool().default(false),
      status: z.enum(campaignStatuses).optional(),
      phase: z.enum(campaignPhases).optional().describe("What they do now."),
      review: z.enum(reviewStates).optional().describe("Of those that advertisers have drafted, with this state."),
      format: z.enum(campaignFormats).optional(),
      advertiser: boundedText(128).optional().describe("Its id, or its name in any case."),
      creativeId: z.string().max(64).optional().describe("Those that show this creative."),
      find: find("the name, the advertiser or the id"),
      sort: sortBy(campaignSorts),
    }),
    answer: z.object({ currency: z.string(), campaigns: z.array(campaign.extend(deliveredSoFar.shape)), next, total }),
  },
  countCampaigns: {
    method: "GET",
    path: "/campaigns/counts",
    access: { ...grants.readers, ...grants.ownAdvertiser },
    description: "Counts the active campaigns by what they do now.",
    query: z.object({ advertiser: boundedText(128).optional().describe("Its id, or its name in any case.") }),
    answer: z.object({
      phases: z
        .array(z.object({ phase: z.enum(campaignPhases), count: z.int(), name: z.string() }))
        .describe("Those of which there are any, each with the name of the latest campaign."),
    }),
  },
  forecastViews: {
    method: "POST",
    path: "/campaigns/forecast",
    access: grants.readers,
    changes: null,
    description:
      "Estimates the paid views of a campaign of videos with these settings, from the last seven whole days (UTC). Adds nothing.",
    body: forecastOf,
    answer: z.object({
      days: z.int().describe("Whole days of traffic that it rests on, at most 7; with 0 there is no forecast."),
      requestsPerDay: z.int().describe("Users at these targets who asked for an ad."),
      unfilledPerDay: z.int().describe("Of them, those who got none."),
      viewsPerDay: z.int().describe("Paid views, with the campaigns that compete now, within the limits of a day."),
      limitedBy: z.enum(forecastLimits),
      currency: z.string(),
      spendPerDayMicros: z.number(),
      daysOfBudget: z
        .number()
        .nullable()
        .describe("How many days the total budget, or the total of views, lasts; null: it has neither, or no views."),
    }),
  },
  showCampaign: {
    method: "GET",
    path: "/campaigns/:campaignId",
    access: { ...grants.readers, ...grants.ownCampaign },
    description: "Returns a campaign.",
    params,
    answer: campaign,
  },
  updateCampaign: {
    method: "PATCH",
    path: "/campaigns/:campaignId",
    access: grants.staff,
    changes: "campaign",
    description: "Changes the given settings of a campaign; null removes one.",
    params,
    query: ofReadVersion,
    body: changes,
    answer: campaign,
    refusals: [409],
  },
  raiseBudget: {
    method: "PATCH",
    path: "/campaigns/:campaignId/budget",
    access: { ...grants.staff, ...grants.ownCampaign },
    changes: "campaign",
    description:
      "Raises budgets of a campaign, within what it has spent and its advertiser has left: for the advertiser's own people.",
    params,
    query: ofReadVersion,
    body: z
      .strictObject({ totalBudgetMicros: microsOf("budget"), dailyBudgetMicros: microsOf("budget") })
      .partial()
      .refine(namesSetting, nothingToChange)
      .meta({ examples: [{ totalBudgetMicros: 100_000_000 }] }),
    answer: campaign,
    refusals: [409],
  },
  revertCampaign: {
    method: "POST",
    path: "/campaigns/:campaignId/revert",
    access: grants.staff,
    changes: "campaign",
    description: "Brings back what one change of a campaign has set, as an entry of the audit trail has it.",
    params,
    query: confirmation,
    body: z
      .strictObject({ entryId: z.string().regex(/^\d{1,18}$/, "must be the id of an entry of the audit trail") })
      .meta({ examples: [{ entryId: "4711" }] }),
    answer: campaign,
    refusals: [409],
  },
  pauseCampaign: {
    method: "POST",
    path: "/campaigns/:campaignId/pause",
    access: { ...grants.staff, ...grants.ownCampaign },
    changes: "campaign",
    description: "Stops a campaign until it is resumed.",
    params,
    answer: campaign,
  },
  resumeCampaign: {
    method: "POST",
    path: "/campaigns/:campaignId/resume",
    access: { ...grants.staff, ...grants.ownCampaign },
    changes: "campaign",
    description: "Lets a paused campaign serve again. An advertiser resumes only what its own people have paused.",
    params,
    answer: campaign,
    refusals: [409],
  },
  archiveCampaign: {
    method: "POST",
    path: "/campaigns/:campaignId/archive",
    // An advertiser archives only campaigns that it drafted.
    access: { ...grants.staff, ...grants.ownCampaign },
    changes: "campaign",
    description:
      "Ends a campaign for good; its statistics stay. An advertiser ends only what its own people have drafted.",
    params,
    answer: campaign,
    refusals: [409],
  },
  attachCreative: {
    method: "POST",
    path: "/campaigns/:campaignId/creatives/:creativeId/attach",
    access: { ...grants.staff, ...grants.ownCampaign },
    changes: "campaign",
    description: "Adds a creative to a campaign, or changes how it is shown there.",
    params: creativeParams,
    body: creativeSettings.meta({ examples: [{ weight: 2, label: "Shop Ltd" }] }),
    answer: campaign,
  },
  detachCreative: {
    method: "POST",
    path: "/campaigns/:campaignId/creatives/:creativeId/detach",
    access: { ...grants.staff, ...grants.ownCampaign },
    changes: "campaign",
    description: "Removes a creative from a campaign.",
    params: creativeParams,
    answer: campaign,
  },
} as const satisfies OperatorRoutes;

export type LandingUrlCheck =
  | { outcome: "valid"; url: string }
  | { outcome: "invalid"; message: string; fault: ReturnType<typeof fieldFault> };

const MAX_LENGTH = 2048;

const faults = {
  "not-an-address": {
    message: "is not an address; write it in full, as https://example.com/page",
    fault: fieldFault("NOT_AN_ADDRESS"),
  },
  scheme: { message: "must begin with https:// or http://", fault: fieldFault("ADDRESS_SCHEME") },
  "user-info": { message: "must not hold a user name or password", fault: fieldFault("ADDRESS_USER_INFO") },
} satisfies Record<WebAddressFault, LandingUrlFault>;

/**
 * Checks a page that a viewer may be sent to: http or https (including t.me), without a user name or password. A `tg:` address is
 * kept in its t.me form, which every browser opens.
 */
export function checkLandingUrl(text: string): LandingUrlCheck {
  if (text.length > MAX_LENGTH) {
    const fault = fieldFault("CHARACTERS_AT_MOST", { max: String(MAX_LENGTH) });
    return invalid({ message: `is longer than ${MAX_LENGTH} characters`, fault });
  }
  const unescaped = unescapedAddress(text);
  const address = webForm(unescaped) ?? unescaped;
  const fault = webAddressFault(address, { isPlainHttpAllowed: true });
  if (fault !== undefined) return invalid(faults[fault]);
  return { outcome: "valid", url: new URL(address).href };
}

interface LandingUrlFault {
  message: string;
  fault: ReturnType<typeof fieldFault>;
}

function invalid({ message, fault }: LandingUrlFault): LandingUrlCheck {
  return { outcome: "invalid", message: `the landing URL ${message}`, fault };
}
