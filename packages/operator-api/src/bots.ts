import { payPerCode } from "@intermission/ad-core/client-words";
import { hasUserInfo, isWebOrigin } from "@intermission/ad-core/web-address";
import { scriptTrouble, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { fieldFault, forms } from "./field-forms.ts";
import {
  callableAddress,
  confirmation,
  find,
  moment,
  namesSetting,
  next,
  nothingToChange,
  ofReadVersion,
  shortWord,
  sortBy,
  timeZone,
  total,
  wholeList,
} from "./fields.ts";
import { formKinds } from "./form-kinds.ts";
import type { OperatorRoutes } from "./route.ts";

/** What lists of bots are sorted by. */
export const botSorts = ["name", "username", "category", "state", "waiting"] as const;
export type BotSort = (typeof botSorts)[number];

const amountFault = "must be a whole number from 1 to 1000000000";
/** How much the bot pays for one view or click, in its unit. */
const rewardAmount = z.int(amountFault).min(1, amountFault).max(1_000_000_000, amountFault);

const MAX_LANGUAGES = 40;
const lengthFault = "must have 1 to 32 characters";
const word = z
  .string()
  .trim()
  .min(1, lengthFault)
  .max(32, lengthFault)
  .regex(forms.CONTROL_CHARACTERS, "must not hold control characters");

/**
 * The unit of a reward: the word after the amount, by language and plural category of `Intl.PluralRules`. A language has a
 * word for each category that its whole numbers below 1000 use, and may have its others.
 */
const rewardUnit = z.record(z.string(), z.record(z.string(), word)).superRefine((unit, context) => {
  const languages = Object.entries(unit);
  if (languages.length === 0 || languages.length > MAX_LANGUAGES)
    context.addIssue({
      code: "custom",
      message: `must have 1 to ${MAX_LANGUAGES} languages`,
      params: fieldFault("ENTRIES_AT_MOST", { max: String(MAX_LANGUAGES) }),
    });
  for (const [language, forms] of languages.slice(0, MAX_LANGUAGES)) {
    const fault = faultOf(language, Object.keys(forms));
    if (fault !== undefined) context.addIssue({ code: "custom", ...fault });
  }
});
rewardUnit.register(formKinds, { kind: "rewardUnit" });
export type RewardUnit = z.infer<typeof rewardUnit>;

function faultOf(language: string, categories: readonly string[]) {
  // Without a region: the mini-app's languages have none.
  if (!/^[a-z]{2,3}$/.test(language) || Intl.PluralRules.supportedLocalesOf(language).length === 0)
    return {
      message: `${JSON.stringify(language.slice(0, 20))} is not a language, such as en or pt`,
      params: fieldFault("UNKNOWN_LANGUAGE", { language: language.slice(0, 20) }),
    };
  const rules = new Intl.PluralRules(language);
  const known: string[] = rules.resolvedOptions().pluralCategories;
  const wrong = categories.filter((category) => !known.includes(category));
  const formsFault = (verb: string, categories: readonly string[]) => ({
    message: `${language} ${verb} the plural forms ${categories.join(", ")}`,
    params: fieldFault("PLURAL_FORMS", { language, forms: categories.join(", ") }),
  });
  if (wrong.length > 0) return formsFault("has", known);
  const needed = [...new Set(Array.from({ length: 999 }, (_, index) => rules.select(index + 1)))];
  const isWhole = needed.every((category) => categories.includes(category));
  return isWhole ? undefined : formsFault("needs", needed);
}

const wholeNumber = (min: number, max: number, unit = "") => {
  const message = `must be a whole number from ${min} to ${max}${unit && ` ${unit}`}`;
  return z.int(message).min(min, message).max(max, message);
};

/** A page for people, which may hold a fragment. */
const privacyUrl = z
  .url({ protocol: /^https?$/, error: "must be an address as https://example.com/privacy" })
  .max(2048)
  .refine((address) => !hasUserInfo(address), {
    error: "must not hold a user name or password",
    params: fieldFault("ADDRESS_USER_INFO"),
  })
  .register(formKinds, { kind: "address" });

/** Exactly as browsers send it: compared letter by letter, and written into the policy of the frame. */
const appOrigin = z
  .string()
  .max(300)
  .refine(isWebOrigin, {
    error: "must be an origin as https://game.example, in small letters, without a path or a final slash",
    params: fieldFault("ORIGIN"),
  });

/** Settings of a bot that an operator may change. */
export const botSettings = z.object({
  name: z.string().trim().min(1, "must have 1 to 128 characters").max(128, "must have 1 to 128 characters"),
  username: z
    .string()
    .regex(forms.USERNAME, "must be the bot's username without the @")
    .register(formKinds, { kind: "username" })
    .nullable(),
  webhookUrl: callableAddress.nullable(),
  publisherApiUrl: callableAddress.nullable(),
  deliveryMode: z.enum(["at-least-once", "at-most-once"]),
  codeLifetimeSeconds: wholeNumber(60, 86_400, "seconds"),
  cooldownSeconds: wholeNumber(0, 604_800, "seconds"),
  dailyCap: wholeNumber(1, 10_000),
  testers: z.array(telegramId).max(100, "must name at most 100"),
  category: shortWord.nullable().describe("The bot's topic: campaigns may target or exclude it."),
  timeZone: timeZone.describe("Hours and weekdays of campaigns are meant in this time zone."),
  blockedCategories: z
    .array(shortWord)
    .max(100, "must name at most 100")
    .describe("Categories of campaigns that the publisher does not want."),
  blockedAdvertisers: z
    .array(z.string().trim().min(1, "must name an advertiser").max(128, "must have at most 128 characters"))
    .max(1000, "must name at most 1000"),
  suspiciousViews: z
    .enum(["pay", "hold", "refuse"])
    .describe("How a view is treated that earned but looks suspicious."),
  suspiciousClicks: z
    .enum(["pay", "hold-farms", "hold", "refuse"])
    .describe(
      "How a click on a direct link is treated that counts but looks suspicious. `hold-farms`, the default, holds what passes the bounds for click farms and pays all others.",
    ),
  payPerCode: payPerCode.describe(
    "What a code earns: `once` is one event, a view or a click, whichever comes first; `each` is one view and one click. The publisher pays by the same rule.",
  ),
  rewardPerView: rewardAmount.nullable().describe("What the mini-app tells its users that a view is worth."),
  rewardPerClick: rewardAmount.nullable().describe("The same for a click on a direct link."),
  rewardUnit: rewardUnit
    .nullable()
    .describe(
      "The unit of both: a word for each plural category of `Intl.PluralRules`, by language; `other` is required.",
    ),
  skipOffer: z.boolean().describe("The mini-app starts the ad without its offer, muted."),
  privacyUrl: privacyUrl
    .nullable()
    .describe(
      "The publisher's privacy policy, which Telegram's terms require of mini-apps. The mini-app's settings page links to it.",
    ),
  closeWhenCredited: z.boolean().describe("The mini-app closes itself some seconds after the reward is credited."),
  includeRevenue: z
    .boolean()
    .describe("Webhooks and the list of events say what each event is worth to the publisher."),
  sendsInterstitials: z
    .boolean()
    .describe("Each interstitial that is charged is sent as the webhook `interstitial`. It rewards nobody."),
  sendsClientNotes: z
    .boolean()
    .describe("Webhooks and the list of events say what the bot's own mini-app passed to `show({ note })`. Unsigned."),
  interstitialSeconds: wholeNumber(0, 86_400, "seconds").describe(
    "A user is shown at most one interstitial within so many seconds.",
  ),
  hasTasks: z
    .boolean()
    .describe(
      "The bot asks for tasks, and gets the webhooks `task` and `task_reversed`. Telegram's terms forbid social growth manipulation: read the page on tasks before.",
    ),
  appOrigins: z
    .array(appOrigin)
    .max(20, "must name at most 20")
    .describe("Origins of the publisher's own mini-app: only their pages may show ads in a frame of `/embed/{bot}`."),
});
export type BotSettings = z.infer<typeof botSettings>;

export const bot = botSettings.extend({
  botId: z.string(),
  codePrefix: z
    .string()
    .describe("The first four characters of the bot's codes: the address of a direct link identifies its bot by them."),
  username: z.string().nullable().describe("Without the @."),
  pictureFileName: z.string().nullable().describe("Its picture, which its users see in the mini-app. Below `/media/`."),
  unitIconFileName: z.string().nullable().describe("The icon beside an amount in its unit. Below `/media/`."),
  isSuspended: z.boolean(),
  createdAt: moment,
  updatedAt: moment,
});
export type Bot = z.infer<typeof bot>;

/** What may be shown of a token after its creation. */
export const tokenEntry = z.object({
  tokenId: z.string(),
  state: z
    .enum(["next", "active", "retiring", "revoked"])
    .describe("`next` and `active` authenticate and sign; `retiring` does so until `revokeAt`."),
  createdAt: moment,
  activatedAt: moment.nullable(),
  revokeAt: moment.nullable().describe("A retiring token authenticates and signs until then."),
  revokedAt: moment.nullable(),
  lastUsedAt: moment
    .nullable()
    .describe(
      "Of a request that it authenticated; null: none yet. Stored once a minute: it may be a minute too early, and is never too late.",
    ),
});
export type TokenEntry = z.infer<typeof tokenEntry>;

/** How the in-app script fared when it last reached the service. */
export const scriptState = z.enum([
  "working",
  "not-registered",
  ...scriptTrouble.options,
  "launch-data-refused",
  "launch-data-expired",
]);
export type ScriptState = z.output<typeof scriptState>;

const seenOrigin = z.object({
  origin: z.string(),
  isRegistered: z.boolean(),
  seenAt: moment.nullable().describe("Stored every ten seconds; null: the script on this origin was not seen yet."),
  version: z.string().nullable(),
  state: scriptState.nullable(),
});
export type SeenOrigin = z.output<typeof seenOrigin>;

const newBot = botSettings
  .partial()
  .extend({ botId: telegramId })
  .strict()
  .meta({
    examples: [{ botId: "7000000001", name: "Quiz", webhookUrl: "https://quiz.example/webhooks", dailyCap: 20 }],
  });
const changes = botSettings
  .partial()
  .strict()
  .refine(namesSetting, nothingToChange)
  .meta({ examples: [{ cooldownSeconds: 300 }] });
const params = z.object({ botId: telegramId });
const shownBot = bot.extend({ miniappUrl: z.string() });
/** `bot`: its own picture; `unit`: the icon of the unit that its rewards are counted in. */
export const pictureOfBot = z.enum(["bot", "unit"]);
export type PictureOfBot = z.infer<typeof pictureOfBot>;
const pictureParams = params.extend({ picture: pictureOfBot });
export const newToken = { tokenId: z.string(), token: z.string().describe("Shown only here.") };

export const botRoutes = {
  addBot: {
    method: "POST",
    path: "/bots",
    access: grants.staff,
    changes: "bot",
    description: "Adds a bot, and returns its first API token, which is shown once.",
    query: confirmation,
    body: newBot,
    status: 201,
    answer: shownBot.extend(newToken),
    refusals: [409],
  },
  listBots: {
    method: "GET",
    path: "/bots",
    access: grants.moneyReaders,
    description: "Lists the bots with their settings.",
    query: z.object({
      ...wholeList,
      suspended: z.stringbool().optional(),
      trouble: z.stringbool().default(false).describe("Only those whose webhooks are in trouble."),
      category: shortWord.optional(),
      find: find("the name, the username or the id"),
      sort: sortBy(botSorts),
    }),
    answer: z.object({ bots: z.array(shownBot), next, total }),
  },
  showBot: {
    method: "GET",
    path: "/bots/:botId",
    access: { ...grants.readers, ...grants.ownBot },
    description: "Returns a bot's settings and its tokens, without their secrets.",
    params,
    answer: shownBot.extend({ tokens: z.array(tokenEntry) }),
  },
  updateBot: {
    method: "PATCH",
    path: "/bots/:botId",
    // Of an own one only what `publisherSettings` names.
    access: { ...grants.staff, ...grants.ownBot },
    changes: "bot",
    description: "Changes the given settings of a bot.",
    params,
    query: ofReadVersion,
    body: changes,
    answer: shownBot,
    refusals: [409],
  },
  suspendBot: {
    method: "POST",
    path: "/bots/:botId/suspend",
    access: grants.staff,
    changes: "bot",
    description: "Suspends a bot: its codes and its API stop.",
    params,
    answer: shownBot,
  },
  resumeBot: {
    method: "POST",
    path: "/bots/:botId/resume",
    access: grants.staff,
    changes: "bot",
    description: "Ends a bot's suspension.",
    params,
    answer: shownBot,
  },
  listAppOrigins: {
    method: "GET",
    path: "/bots/:botId/app-origins",
    access: { ...grants.readers, ...grants.ownBot },
    description:
      "Lists the bot's app origins, and the last others whose pages named the bot, with when the in-app script reached the service from there.",
    params,
    answer: z.object({
      scriptUrl: z.string().describe("The address of the script for the pages."),
      pinned: z
        .object({ url: z.string(), integrity: z.string() })
        .nullable()
        .describe("The same script at an address that never changes, and its hash for the attribute `integrity`."),
      origins: z.array(seenOrigin),
      asOf: moment.describe("When the server read it."),
    }),
  },
  setBotPicture: {
    method: "PUT",
    path: "/bots/:botId/pictures/:picture",
    access: grants.staff,
    changes: "bot",
    description:
      "Sets a bot's picture, or the icon of its unit, from a JPEG, PNG or WebP picture. The server's ffmpeg makes a small square of it; without ffmpeg it must be one.",
    params: pictureParams,
    query: z.object({
      name: z.string().min(1).max(1024).default("picture.png").describe("Of the file, for messages."),
    }),
    body: "file",
    answer: shownBot,
    refusals: [507],
  },
  removeBotPicture: {
    method: "DELETE",
    path: "/bots/:botId/pictures/:picture",
    access: grants.staff,
    changes: "bot",
    description: "Removes a bot's picture, or the icon of its unit. Without one, nothing is removed.",
    params: pictureParams,
    answer: shownBot,
  },
} as const satisfies OperatorRoutes;
