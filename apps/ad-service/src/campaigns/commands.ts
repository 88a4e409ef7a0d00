import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import {
  amountOption,
  collect,
  confirmable,
  confirmedQuery,
  existingFile,
  momentOption,
  wholeNumber,
} from "@intermission/server/command-options";
import { amountIn, type Row, recordOf, row, tableOf, withAmounts } from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { uploadVideo } from "../creatives/upload.ts";

const verbs = {
  pause: { route: "pauseCampaign", description: "stop showing it to new viewers" },
  resume: { route: "resumeCampaign", description: "undo pause" },
  archive: { route: "archiveCampaign", description: "end it for good; its statistics stay" },
} as const;

export function campaignCommands(program: Command, context: CommandContext): void {
  const campaigns = program.command("campaigns").description("ads to show: videos and landing pages");
  const show = async (campaign: Row) => {
    const { currency } = context.isJson() ? {} : await callForRow(context, operatorRequest("showCurrency"));
    context.print(campaign, () => recordOf({ ...withAmounts(campaign), currency }));
  };

  withExamples(withSettings(campaigns.command("add").description("add a campaign; it runs immediately")), [
    'campaigns add --name "Spring sale" --advertiser "Acme" --format rewarded --video spring.mp4 --view-price 0.002',
    'campaigns add --name "Acme shop" --advertiser "Acme" --format direct_link --landing-url "https://example.com/?c={click_id}"',
  ])
    .addOption(
      new Option("--format <format...>", "rewarded is a video, direct_link a landing page; both are possible")
        .choices(["rewarded", "direct_link"])
        .makeOptionMandatory(),
    )
    .option("--video <file>", "MP4 (H.264 + AAC) or WebM, uploaded and checked; repeatable", collect(existingFile))
    .option("--creative <id>", "a video that was added before; repeatable", collect(String))
    .action(
      async ({
        video = [],
        creative = [],
        format,
        yes,
        ...options
      }: Row & { video?: string[]; creative?: string[] }) => {
        const creativeIds: unknown[] = [...creative];
        for (const file of video) creativeIds.push((await uploadVideo(context, file)).creativeId);
        const body = { ...settingsOf(options), formats: format, creativeIds };
        const query = confirmedQuery({ yes });
        await show(await callForRow(context, operatorRequest("addCampaign", { query, body })));
      },
    );

  withExamples(campaigns.command("list").description("all campaigns"), ["campaigns list", "campaigns list --archived"])
    .option("--archived", "include archived campaigns")
    .action(async ({ archived }: { archived?: boolean }) => {
      const { rows, answer } = await callForAllRows(context, "campaigns", (after) =>
        operatorRequest("listCampaigns", { query: { archived: String(archived === true), after } }),
      );
      context.print(rows, () => tableOf(rows, columnsIn(String(answer.currency))));
    });

  forOneCampaign(campaigns, "show", "show a campaign").action(async (campaignId: string) =>
    show(await callForRow(context, operatorRequest("showCampaign", { params: { campaignId } }))),
  );

  withSettings(forOneCampaign(campaigns, "update", "change settings of a campaign; the others stay")).action(
    async (campaignId: string, { yes, ...options }: Row) => {
      const before = namesTarget(options)
        ? await callForRow(context, operatorRequest("showCampaign", { params: { campaignId } }))
        : {};
      const body = settingsOf(options, before.targeting as Row | undefined);
      // The other targets are sent as they were read.
      const query = { ...confirmedQuery({ yes }), expectedUpdatedAt: before.updatedAt as string | undefined };
      await show(await callForRow(context, operatorRequest("updateCampaign", { params: { campaignId }, query, body })));
    },
  );

  videosOfCampaign(campaigns, context, show);

  confirmable(forOneCampaign(campaigns, "revert", "bring back what one change of a campaign has set"))
    .argument("<entry-id>", "as shown by audit list")
    .action(async (campaignId: string, entryId: string, { yes }: Row) => {
      const request = { params: { campaignId }, query: confirmedQuery({ yes }), body: { entryId } };
      await show(await callForRow(context, operatorRequest("revertCampaign", request)));
    });

  for (const [verb, { route, description }] of Object.entries(verbs)) {
    forOneCampaign(campaigns, verb, description).action(async (campaignId: string) =>
      show(await callForRow(context, operatorRequest(route, { params: { campaignId } }))),
    );
  }
}

/** The videos of a campaign. */
function videosOfCampaign(campaigns: Command, context: CommandContext, show: (campaign: Row) => Promise<void>): void {
  const forOneVideo = (verb: string, description: string) =>
    withExamples(campaigns.command(verb).description(description), [
      `campaigns ${verb} cmp_8fJ2kLm4Qr9T cre_0a1b2c3d4e5f60718293a4b5${verb === "attach" ? " --weight 3" : ""}`,
    ])
      .argument("<campaign-id>", "as shown by campaigns list")
      .argument("<creative-id>", "as shown by creatives list");

  forOneVideo("attach", "show a video in a campaign, or change how it is shown")
    .option("--weight <number>", "how often it is shown, relative to the campaign's other videos", wholeNumber)
    .option("--label <text>", "shown instead of the advertiser's name; none clears it")
    .option("--call-to-action <label>", "shown instead of the campaign's; none clears it")
    .action(async (campaignId: string, creativeId: string, options: Row) => {
      const body = Object.fromEntries(
        Object.entries(options).map(([name, value]) => [name, value === "none" ? null : value]),
      );
      await show(
        await callForRow(context, operatorRequest("attachCreative", { params: { campaignId, creativeId }, body })),
      );
    });
  forOneVideo("detach", "stop showing a video of a campaign to new viewers").action(
    async (campaignId: string, creativeId: string) =>
      show(await callForRow(context, operatorRequest("detachCreative", { params: { campaignId, creativeId } }))),
  );
}

/** What follows the campaign's id in a verb's example. */
const exampleOf: Readonly<Record<string, string>> = { update: " --weight 5 --user-cap 3/24h", revert: " 4711" };

function forOneCampaign(campaigns: Command, verb: string, description: string): Command {
  const command = campaigns.command(verb).description(description);
  withExamples(command, [`campaigns ${verb} cmp_8fJ2kLm4Qr9T${exampleOf[verb] ?? ""}`]);
  return command.argument("<campaign-id>", "as shown by campaigns list");
}

const columnsIn = (currency: string) => ({
  CAMPAIGN: (campaign: Row) => campaign.campaignId,
  NAME: (campaign: Row) => campaign.name,
  ADVERTISER: (campaign: Row) => campaign.advertiser,
  FORMATS: (campaign: Row) => campaign.formats,
  STATUS: (campaign: Row) => campaign.status,
  PRIORITY: (campaign: Row) => campaign.priority,
  WEIGHT: (campaign: Row) => campaign.weight,
  [`SPENT ${currency}`]: ({ delivered }: Row) => amountIn(row.parse(delivered).spentMicros),
  [`LEFT ${currency}`]: ({ budgetLeftMicros, totalBudgetMicros }: Row) =>
    amountIn(budgetLeftMicros) && `${amountIn(budgetLeftMicros)}${totalBudgetMicros === null ? " today" : ""}`,
  DELIVERED: ({ deliveredShare }: Row) =>
    typeof deliveredShare === "number" ? `${(deliveredShare * 100).toFixed(1)} %` : undefined,
});

/** A campaign's settings as options of the command line. `none` removes a limit or a target. */
export function withSettings(command: Command): Command {
  return confirmable(command)
    .option("--name <name>", "name for the operator; required for a new campaign")
    .option("--advertiser <name>", "shown to viewers; required for a new campaign")
    .option("--landing-url <url>", "where the link, or the button beside the video, leads")
    .option("--call-to-action <label>", "label of the button beside the video", orNone(asIs))
    .addOption(
      new Option("--priority <priority>", "campaigns of a higher priority are shown first").choices([
        "sponsorship",
        "standard",
        "house",
      ]),
    )
    .option("--category <word>", "topic that bots may block, such as games", orNone(asIs))
    .addOption(
      new Option("--pacing <pacing>", "spread over the day, or as fast as users come").choices(["even", "asap"]),
    )
    .option("--starts-at <moment>", "such as 2026-01-31T08:00:00Z, or none", orNone(momentOption))
    .option("--ends-at <moment>", "such as 2026-01-31T08:00:00Z, or none", orNone(momentOption))
    .option("--weight <number>", "how often it is chosen, relative to others", wholeNumber)
    .option(
      "--view-price <amount>",
      "price of a completed view, in the deployment's currency, such as 0.002",
      amountOption("price"),
    )
    .option("--click-price <amount>", "price of a counted click on a direct link", amountOption("price"))
    .option("--total-budget <amount>", "in total, or none", orNone(amountOption("budget")))
    .option("--daily-budget <amount>", "per UTC day, or none", orNone(amountOption("budget")))
    .option("--total-view-cap <number>", "completed views in total, or none", orNone(wholeNumber))
    .option("--daily-view-cap <number>", "completed views per UTC day, or none", orNone(wholeNumber))
    .option("--total-click-cap <number>", "counted clicks in total, or none", orNone(wholeNumber))
    .option("--daily-click-cap <number>", "counted clicks per UTC day, or none", orNone(wholeNumber))
    .option("--user-cap <cap>", "views and clicks of one user within a period, such as 3/24h, or none", orNone(userCap))
    .option("--languages <codes>", "the user's, such as en,ru, or none", orNone(words))
    .option("--platforms <names>", "of android,ios,desktop,web, or none", orNone(words))
    .option("--countries <codes>", "the user's, such as DE,AT, or none; needs a source of countries", orNone(words))
    .addOption(
      new Option("--premium <who>", "with Telegram Premium only, without it only, or all").choices([
        "yes",
        "no",
        "any",
      ]),
    )
    .option("--bots <ids>", "only in these bots, or none", orNone(words))
    .option("--bot-categories <words>", "only in bots of these categories, or none", orNone(words))
    .option("--excluded-bots <ids>", "never in these bots, or none", orNone(words))
    .option("--excluded-bot-categories <words>", "never in bots of these categories, or none", orNone(words))
    .option(
      "--hours <hours>",
      "of the day in the bot's time zone, such as 8-22, 22-6 (over midnight) or 7,12,18, or none",
      orNone(cyclicNumbers({ min: 0, max: 23, example: "8-22, 22-6 or 7,12,18" })),
    )
    .option(
      "--weekdays <days>",
      "1 is Monday; such as 1-5 or 6-1 (Saturday to Monday), or none",
      orNone(cyclicNumbers({ min: 1, max: 7, example: "1-5, 6-1 or 2,4" })),
    );
}

const targets = [
  "languages",
  "platforms",
  "countries",
  "bots",
  "botCategories",
  "excludedBots",
  "excludedBotCategories",
  "hours",
  "weekdays",
  "premium",
];

/** The options as the server expects them. Targets without an option keep their value in `targeting`, the previous targets. */
export function settingsOf(options: Row, targeting: Row = {}): Row {
  const cleared = Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, value === NONE ? null : value]),
  );
  const { viewPrice, clickPrice, totalBudget, dailyBudget, userCap, ...others } = cleared;
  const named = targets.filter((name) => others[name] !== undefined);
  const target: Row = { ...targeting };
  for (const name of named) {
    const value = name === "premium" ? { yes: true, no: false, any: null }[String(others[name])] : others[name];
    if (value === null) delete target[name];
    else target[name] = value;
  }
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !targets.includes(name)));
  return {
    ...rest,
    viewPriceMicros: viewPrice,
    clickPriceMicros: clickPrice,
    totalBudgetMicros: totalBudget,
    dailyBudgetMicros: dailyBudget,
    ...(userCap === null ? { userCap: null, userCapSeconds: null } : (userCap as object | undefined)),
    ...(named.length > 0 && { targeting: target }),
  };
}

/** Whether an option is a target: then the other targets must be read first, to keep them. */
export function namesTarget(options: Row): boolean {
  return targets.some((name) => options[name] !== undefined);
}

/** Commander turns an empty text into null. */
const NONE = Symbol("none");

function orNone<Value>(parse: (text: string) => Value) {
  return (text: string): Value | typeof NONE => (text === "none" ? NONE : parse(text));
}

function asIs(text: string): string {
  return text;
}

function words(text: string): string[] {
  return text.split(",").map((word) => word.trim());
}

/**
 * `8-11,14` is 8, 9, 10, 11 and 14. A range that ends before it begins goes on over `max`: of the hours, `22-1` is 22, 23, 0
 * and 1. The server checks each number.
 */
function cyclicNumbers({ min, max, example }: { min: number; max: number; example: string }) {
  return (text: string): number[] =>
    words(text).flatMap((word) => {
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
