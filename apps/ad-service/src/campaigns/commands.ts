import { campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import { platforms } from "@intermission/operator-api/campaign-words";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { type OperatorRouteName, operatorRoutes } from "@intermission/operator-api/operator-routes";
import { collect, existingFile } from "@intermission/server/command-options";
import { amountIn } from "@intermission/server/command-tables";
import { callWithKey } from "@intermission/server/keyed-command";
import type { CommandContext } from "@intermission/server/operator-client";
import {
  addInput,
  type CommandInput,
  callOf,
  callRoute,
  list,
  type RequestOfCommand,
  recordText,
  subject,
  type Verb,
  verb,
  type WireAnswer,
} from "@intermission/server/route-commands";
import { InvalidArgumentError } from "commander";
import { termsWords } from "../advertisers/commands.ts";
import { uploadVideo } from "../creatives/upload.ts";

/** How a campaign's settings are written, where their schemas do not say it. A target is a list with commas. */
const settings = {
  name: "name for the operator; required for a new campaign",
  advertiser: { text: "shown to viewers; required for a new campaign", value: "name" },
  landingUrl: "where the link, or the button beside the video, leads",
  callToAction: { text: "label of the button beside the video", value: "label" },
  priority: "campaigns of a higher priority are shown first",
  category: { text: "topic that bots may block, such as games", value: "word" },
  pacing: "spread over the day, or as fast as users come",
  startsAt: "such as 2026-01-31T08:00:00Z",
  endsAt: "such as 2026-01-31T08:00:00Z",
  weight: { text: "how often it is chosen, relative to others", value: "number" },
  viewPriceMicros: "price of a completed view or of an interstitial, in the deployment's currency, such as 0.002",
  clickPriceMicros: "price of a counted click on a direct link",
  skipAfterSeconds: { text: "an interstitial may be skipped after so many seconds", value: "seconds" },
  chargedAfterSeconds: { text: "an interstitial is charged once it was in view for so long", value: "seconds" },
  taskPriceMicros: "price of a user who joins the channel and stays",
  taskChatId: { text: "the channel that users join; see task-channels list", value: "id" },
  taskStartBot: { text: "in place of a channel: the advertiser's bot that users start", value: "username" },
  taskHoldDays: { text: "who leaves within so many days is not paid, or is taken back", value: "days" },
  taskPaidAt: "joined: at once, and taken back if the user leaves too early; kept: after these days",
  totalBudgetMicros: "in total",
  dailyBudgetMicros: "per UTC day",
  totalViewCap: "completed views in total",
  dailyViewCap: "completed views per UTC day",
  totalClickCap: "counted clicks in total",
  dailyClickCap: "counted clicks per UTC day",
  userCap: { text: "views and clicks of one user within a period, such as 3/24h", value: "cap", parse: userCap },
  languages: { text: "the user's, such as en,ru", value: "codes", parse: commas },
  platforms: { text: `of ${platforms.join(",")}`, value: "names", parse: commas },
  countries: { text: "the user's, such as DE,AT; needs a source of countries", value: "codes", parse: commas },
  premium: { text: "yes: with Telegram Premium only; no: without it only; any: all", value: "who", parse: premium },
  bots: { text: "only in these bots", value: "ids", parse: commas },
  botCategories: { text: "only in bots of these categories", value: "words", parse: commas },
  excludedBots: { text: "never in these bots", value: "ids", parse: commas },
  excludedBotCategories: { text: "never in bots of these categories", value: "words", parse: commas },
  hours: {
    text: "of the day in the bot's time zone, such as 8-22, 22-6 (over midnight) or 7,12,18",
    value: "hours",
    parse: cyclicNumbers({ min: 0, max: 23, example: "8-22, 22-6 or 7,12,18" }),
  },
  weekdays: {
    text: "1 is Monday; such as 1-5 or 6-1 (Saturday to Monday)",
    value: "days",
    parse: cyclicNumbers({ min: 1, max: 7, example: "1-5, 6-1 or 2,4" }),
  },
} as const;

/** What the options say, as the server expects it. Targets without an option keep their value. */
async function withSettings({ params, query, body }: CommandInput, context: CommandContext): Promise<CommandInput> {
  const { userCap: cap, targeting: named, ...others } = body;
  const { campaignId } = params;
  const userCap = cap === null ? { userCap: null, userCapSeconds: null } : (cap as object | undefined);
  if (named === undefined) return { params, query, body: { ...others, ...userCap } };
  const before =
    campaignId === undefined ? undefined : await callRoute(context, "showCampaign", { params: { campaignId } });
  const targets = Object.entries<unknown>({ ...before?.targeting, ...named }).filter(
    ([, value]) => value !== null && value !== "any",
  );
  return {
    params,
    // The other targets are sent as they were read.
    query: { ...query, expectedUpdatedAt: before?.updatedAt },
    body: { ...others, ...userCap, targeting: Object.fromEntries(targets) },
  };
}

type Campaign = WireAnswer<"showCampaign">;
type CampaignRoute = Extract<OperatorRouteName, `${string}Campaign` | `${"at" | "de"}tachCreative` | "raiseBudget">;

/** Shows the campaign that a route answers with. */
function campaignVerb<Name extends CampaignRoute>(name: Name, of: RequestOfCommand<Name>): Verb {
  return (command, context) => {
    const readInput = addInput(command, operatorRoutes[name], of);
    command.action(async () => {
      // Each of these routes answers with the campaign.
      await show(context, (await callRoute(context, name, await readInput(context))) as Campaign);
    });
  };
}

async function show(context: CommandContext, campaign: Campaign): Promise<void> {
  const { advertiserId: advertiser } = campaign;
  const money = context.isJson()
    ? undefined
    : await callRoute(context, "showAdvertiserMoney", { params: { advertiser } });
  context.print(campaign, () => {
    const text = recordText({ ...campaign, currency: money?.currency });
    const why = money && whyUnpaid(campaign, money);
    return why === undefined ? text : `${text}\n\n${why}`;
  });
}

/** Why a campaign with a price does not run although it is active: a new advertiser is prepaid, and has paid nothing in. */
function whyUnpaid(
  { viewPriceMicros, clickPriceMicros, taskPriceMicros, advertiserId }: Campaign,
  { name, billing, availableMicros }: WireAnswer<"showAdvertiserMoney">,
): string | undefined {
  const hasPrice = viewPriceMicros + clickPriceMicros + taskPriceMicros > 0;
  if (!hasPrice || billing !== "prepaid" || availableMicros !== 0) return undefined;
  const next = `record what was paid: money top-up ${advertiserId} <amount>; or let it pay later: money terms ${advertiserId} credit`;
  return `${name} is prepaid and has nothing left, so that this campaign does not run. ${next}`;
}

const add: Verb = (command, context) => {
  const readInput = addInput<"addCampaign">(command, operatorRoutes.addCampaign, {
    description: "add a campaign; it runs immediately",
    examples: [
      '--name "Spring sale" --advertiser "Acme" --format rewarded --video spring.mp4 --view-price 0.002',
      '--name "Acme shop" --advertiser "Acme" --format direct_link --landing-url "https://example.com/?c={click_id}"',
    ],
    options: {
      ...settings,
      // The server says it of both at once.
      name: { text: settings.name, isRequired: false },
      advertiser: { ...settings.advertiser, isRequired: false },
      formats: {
        flag: "format",
        value: "format...",
        text: "rewarded is a video, direct_link a landing page, interstitial a video without a reward; several are possible",
      },
      creativeIds: { flag: "creative", value: "id", text: "a video that was added before" },
      ...termsWords,
    },
    without: ["userCapSeconds"],
    prepare: withSettings,
  });
  command
    .option("--video <file>", "MP4 (H.264 + AAC) or WebM, uploaded and checked; repeatable", collect(existingFile))
    .action(async () => {
      const input = await readInput(context);
      const { video = [], idempotencyKey } = command.opts<{ video?: string[]; idempotencyKey?: string }>();
      const creativeIds = [...((input.body.creativeIds as string[] | undefined) ?? [])];
      for (const file of video) creativeIds.push((await uploadVideo(context, file)).creativeId);
      const added = await callWithKey(context, { idempotencyKey }, (key) =>
        callOf("addCampaign", { ...input, body: { ...input.body, creativeIds, idempotencyKey: key } }),
      );
      await show(context, added as Campaign);
    });
};

const draftFields = campaignReviewRoutes.draftCampaign.body.shape;
const ofAdvertiser = Object.fromEntries(
  Object.entries(settings).filter(([name]) => name in draftFields || name in draftFields.targeting.unwrap().shape),
);
const { priority, category, viewPriceMicros, clickPriceMicros } = settings;
const approvedSettings = { priority, category, viewPriceMicros, clickPriceMicros };
const inQueue = "as shown by campaigns list --review waiting";
const expectedUpdatedAt = {
  text: "the updatedAt of the campaign that was looked at; without it, the present one",
  value: "moment",
  isRequired: false,
};

/** Adds the current version to the input unless the input names one. */
async function ofPresentVersion(input: CommandInput, context: CommandContext): Promise<CommandInput> {
  if (input.body.expectedUpdatedAt !== undefined) return input;
  const { updatedAt } = await callRoute(context, "showCampaign", {
    params: { campaignId: input.params.campaignId ?? "" },
  });
  return { ...input, body: { ...input.body, expectedUpdatedAt: updatedAt } };
}

const forecastFields = campaignRoutes.forecastViews.body.shape;
const forecastOptions = Object.entries(settings).filter(
  ([name]) => name in forecastFields || name in forecastFields.targeting.unwrap().shape,
);

const creativeVideo = { arguments: ["campaignId", "creativeId"] } as const;

export const campaignCommands = subject("campaigns", "ads to show: videos and landing pages", {
  add,
  list: list("listCampaigns", "campaigns", {
    description: "all campaigns",
    examples: ["", "--archived", "--find spring --sort -spent"],
    options: {
      archived: "include archived campaigns",
      status: "in one state only",
      phase: "that do this now only",
      review: "that advertisers have drafted, in one state of the review",
      format: "of one format only",
      advertiser: { text: "of one advertiser only: its id, or its name in any case", value: "name" },
      creativeId: { flag: "creative", text: "that show this creative only", value: "id" },
    },
    columns: ({ currency }) => ({
      CAMPAIGN: "campaignId",
      NAME: "name",
      ADVERTISER: "advertiser",
      FORMATS: "formats",
      STATUS: "status",
      PRIORITY: "priority",
      WEIGHT: "weight",
      [`SPENT ${currency}`]: ({ delivered }) => amountIn(delivered.spentMicros),
      [`LEFT ${currency}`]: ({ budgetLeftMicros, totalBudgetMicros }) =>
        amountIn(budgetLeftMicros) && `${amountIn(budgetLeftMicros)}${totalBudgetMicros === null ? " today" : ""}`,
      DELIVERED: ({ deliveredShare }) =>
        deliveredShare === null ? undefined : `${(deliveredShare * 100).toFixed(1)} %`,
    }),
  }),
  forecast: verb("forecastViews", {
    description: "how many paid views a campaign of videos may expect, by the last seven days",
    examples: ["--countries DE,AT --view-price 0.002 --total-budget 100"],
    options: {
      ...Object.fromEntries(forecastOptions),
      campaignId: { flag: "campaign", value: "id", text: "of a campaign that exists: it does not compete with itself" },
    },
    prepare: withSettings,
    note: ({ days }) => (days === 0 ? "There is no forecast yet: it needs a whole day (UTC) of traffic." : undefined),
  }),
  show: campaignVerb("showCampaign", { description: "show a campaign" }),
  update: campaignVerb("updateCampaign", {
    description: "change settings of a campaign; the others stay",
    examples: ["cmp_8fJ2kLm4Qr9T --weight 5 --user-cap 3/24h"],
    options: settings,
    without: ["userCapSeconds"],
    prepare: withSettings,
  }),
  attach: campaignVerb("attachCreative", {
    ...creativeVideo,
    description: "show a video in a campaign, or change how it is shown",
    examples: ["cmp_8fJ2kLm4Qr9T cre_0a1b2c3d4e5f60718293a4b5 --weight 3"],
    options: {
      weight: { text: "how often it is shown, relative to the campaign's other videos", value: "number" },
      label: { text: "shown instead of the advertiser's name", value: "text" },
      callToAction: { text: "shown instead of the campaign's", value: "label" },
    },
  }),
  detach: campaignVerb("detachCreative", {
    ...creativeVideo,
    description: "stop showing a video of a campaign to new viewers",
  }),
  "raise-budget": campaignVerb("raiseBudget", {
    description: "raise budgets within what its advertiser has left",
    examples: ["cmp_2K18GkjhZUeUj --total-budget 500"],
    options: { totalBudgetMicros: { flag: "total-budget" }, dailyBudgetMicros: { flag: "daily-budget" } },
  }),
  revert: campaignVerb("revertCampaign", {
    description: "bring back what one change of a campaign has set",
    arguments: ["campaignId", "entryId"],
    options: { entryId: { text: "as shown by audit list", example: "4711" } },
  }),
  draft: campaignVerb("draftCampaign", {
    description: "draft a campaign of an advertiser, which runs once it is approved",
    examples: ['--advertiser "Acme" --name "Spring" --format direct_link --landing-url "https://example.com/"'],
    options: {
      ...ofAdvertiser,
      advertiser: { text: "its id, or its name in any case", value: "name" },
      formats: {
        flag: "format",
        value: "format...",
        text: "rewarded, direct_link or interstitial; several are possible",
      },
      creativeIds: { flag: "creative", value: "id", text: "a video of the advertiser's" },
    },
    without: ["userCapSeconds"],
    prepare: withSettings,
  }),
  revise: campaignVerb("reviseCampaign", {
    description: "change settings of a drafted campaign as its advertiser does",
    examples: ["cmp_8fJ2kLm4Qr9T --daily-budget 20"],
    options: ofAdvertiser,
    without: ["userCapSeconds"],
    prepare: withSettings,
  }),
  submit: campaignVerb("submitCampaign", { description: "submit a drafted campaign for approval" }),
  approve: campaignVerb("approveCampaign", {
    description: "let a drafted campaign run, at its price or at the one that is set here",
    arguments: ["campaignId"],
    examples: ["cmp_8fJ2kLm4Qr9T --view-price 0.002"],
    options: { campaignId: inQueue, ...approvedSettings, expectedUpdatedAt },
    prepare: ofPresentVersion,
  }),
  refuse: campaignVerb("refuseCampaign", {
    description: "keep a drafted campaign from running",
    arguments: ["campaignId"],
    examples: ['cmp_8fJ2kLm4Qr9T --reason "The landing page does not open"'],
    options: { campaignId: inQueue, reason: { text: "for its advertiser", value: "text" }, expectedUpdatedAt },
    prepare: ofPresentVersion,
  }),
  pause: campaignVerb("pauseCampaign", { description: "stop showing it to new viewers" }),
  resume: campaignVerb("resumeCampaign", { description: "undo pause" }),
  archive: campaignVerb("archiveCampaign", { description: "end it for good; its statistics stay" }),
});

function premium(text: string): boolean | string {
  if (text === "any") return "any";
  if (text !== "yes" && text !== "no") throw new InvalidArgumentError("It must be yes, no or any.");
  return text === "yes";
}

function commas(text: string): string[] {
  return text.split(",").map((word) => word.trim());
}

/**
 * `8-11,14` is 8, 9, 10, 11 and 14. A range that ends before it begins goes on over `max`: of the hours, `22-1` is 22, 23, 0
 * and 1. The server checks each number.
 */
function cyclicNumbers({ min, max, example }: { min: number; max: number; example: string }) {
  return (text: string): number[] =>
    commas(text).flatMap((word) => {
      const [, first, last = first] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(word) ?? [];
      const [from, to] = [Number(first), Number(last)];
      const isOver = to < from;
      if (Number.isNaN(from) || (isOver && (from > max || to < min))) {
        throw new InvalidArgumentError(`It must be numbers from ${min} to ${max}, such as ${example}.`);
      }
      return isOver ? [...numbersFrom(from, max), ...numbersFrom(min, to)] : numbersFrom(from, to);
    });
}

function numbersFrom(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const unitSeconds: Record<string, number> = { m: 60, h: 3600, d: 86_400 };

function userCap(text: string): { userCap: number; userCapSeconds: number } {
  const [, cap, count, unit = ""] = /^(\d{1,5})\/(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (cap === undefined)
    throw new InvalidArgumentError("It must be a number per period, such as 3/24h, 1/30m or 10/7d.");
  return { userCap: Number(cap), userCapSeconds: Number(count) * (unitSeconds[unit] ?? 0) };
}
