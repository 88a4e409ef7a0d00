import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import {
  collect,
  confirmable,
  confirmedQuery,
  telegramIdOption,
  wholeNumber,
} from "@intermission/server/command-options";
import { type Row, recordOf, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";
import { rewardUnitOption } from "./bot-settings.ts";
import { tokenColumns } from "./token-commands.ts";

export function botCommands(program: Command, context: CommandContext): void {
  const bots = program.command("bots").description("publishers' bots and their settings");

  withExamples(withSettings(bots.command("add").description("add a bot; its API token is shown only once")), [
    'bots add --bot-id 7000000001 --name "Coin Garden" --webhook-url https://example.com/webhooks/ads',
    "bots add --bot-id 7000000001 --json",
  ])
    .requiredOption("--bot-id <id>", "its Telegram id: the digits before the colon of its token", telegramIdOption)
    .action(async ({ botId, yes, ...options }: SettingOptions & { botId: string }) => {
      const body = { botId, ...settingsOf(options) };
      const query = confirmedQuery({ yes });
      const added = await callForRow(context, operatorRequest("addBot", { query, body }));
      context.print(added, () => `${recordOf(added)}\n\n${nextSteps(added)}`);
    });

  withExamples(bots.command("list").description("all bots"), ["bots list", "bots list --json"]).action(async () => {
    const { rows } = await callForAllRows(context, "bots", (after) =>
      operatorRequest("listBots", { query: { after } }),
    );
    context.print(rows, () => tableOf(rows, columns));
  });

  forOneBot(bots, "show", "show a bot, its settings and its tokens").action(async (botId: string) => {
    const bot = await callForRow(context, operatorRequest("showBot", { params: { botId } }));
    const { tokens: _, ...settings } = bot;
    context.print(bot, () => `${recordOf(settings)}\n\n${tableOf(rowsOf(bot, "tokens"), tokenColumns)}`);
  });

  withSettings(forOneBot(bots, "update", "change settings of a bot; the others stay")).action(
    async (botId: string, { yes, ...options }: SettingOptions) => {
      const change = operatorRequest("updateBot", {
        params: { botId },
        query: confirmedQuery({ yes }),
        body: settingsOf(options),
      });
      const bot = await callForRow(context, change);
      context.print(bot, () => recordOf(bot));
    },
  );

  for (const [verb, { route, description }] of Object.entries(suspensions)) {
    forOneBot(bots, verb, description).action(async (botId: string) => {
      const bot = await callForRow(context, operatorRequest(route, { params: { botId } }));
      context.print(bot, () => recordOf(bot));
    });
  }
}

function nextSteps({ botId, webhookUrl }: Row): string {
  const keep = "Keep the token now: it is not shown again.";
  if (!webhookUrl) return keep;
  return `${keep}\nIts webhook address gets a signed test event, and further events once it has answered 2xx; see it with: endpoints show ${botId}`;
}

const suspensions = {
  suspend: {
    route: "suspendBot",
    description:
      "answer its requests with 403, start no ads and count no clicks; ads that play already are paid, and events delivered",
  },
  resume: { route: "resumeBot", description: "undo suspend" },
} as const;

function forOneBot(bots: Command, verb: string, description: string): Command {
  const command = bots.command(verb).description(description);
  withExamples(command, [`bots ${verb} 7000000001${verb === "update" ? " --cooldown 30 --daily-cap 10" : ""}`]);
  return command.argument("<bot-id>", "its Telegram id", telegramIdOption);
}

interface SettingOptions {
  codeLifetime?: number;
  cooldown?: number;
  tester?: string[];
  blockCategory?: string[];
  blockAdvertiser?: string[];
  skipOffer?: string;
  closeWhenCredited?: string;
  includeRevenue?: string;
  [setting: string]: unknown;
}

function withSettings(command: Command): Command {
  const modes = ["at-least-once", "at-most-once"];
  return confirmable(command)
    .option("--name <name>", "shown to its users")
    .option("--username <name>", "its @username, without the @; none clears it")
    .option("--webhook-url <url>", "where its events are sent; none holds them")
    .option("--publisher-api-url <url>", "where the mini-app reads what was credited; none clears it")
    .addOption(new Option("--delivery-mode <mode>", "at-most-once for a receiver that ignores event_id").choices(modes))
    .option("--code-lifetime <seconds>", "how long a code is valid, 60 to 86400", wholeNumber)
    .option("--cooldown <seconds>", "least time between two rewards of a user", wholeNumber)
    .option("--daily-cap <number>", "most rewards of a user in a UTC day", wholeNumber)
    .option("--tester <id>", "Telegram id of a tester; repeatable; replaces the list", collect(telegramIdOption))
    .option("--category <word>", "the bot's topic, such as games; none clears it")
    .option("--time-zone <name>", "such as Europe/Berlin; campaigns limited to hours use it")
    .option(
      "--block-category <word>",
      "category of unwanted campaigns; repeatable; none clears the list",
      collect(String),
    )
    .option("--block-advertiser <name>", "repeatable; none clears the list", collect(String))
    .addOption(
      new Option("--suspicious-views <what>", "what happens to a view that earned but looks suspicious").choices([
        "pay",
        "hold",
        "refuse",
      ]),
    )
    .addOption(
      new Option("--suspicious-clicks <what>", "what happens to a click that counts but looks suspicious").choices([
        "pay",
        "hold-farms",
        "hold",
        "refuse",
      ]),
    )
    .addOption(
      new Option(
        "--pay-per-code <what>",
        "once: a code earns its view or its click, whichever comes first; each: one of both, as the publisher pays",
      ).choices(["once", "each"]),
    )
    .option(
      "--reward-per-view <number>",
      "units that you pay for a view, shown to users; none clears it",
      wholeNumberOrNone,
    )
    .option("--reward-per-click <number>", "the same for a click on a direct link", wholeNumberOrNone)
    .option(
      "--reward-unit <forms>",
      "its name, such as en:one=coin,other=coins; repeatable, one language each; replaces all; none clears it",
      rewardUnitOption,
    )
    .addOption(new Option("--skip-offer <answer>", "start the ad without the mini-app's offer").choices(["yes", "no"]))
    .addOption(
      new Option("--close-when-credited <answer>", "close the mini-app 3 s after the reward is credited").choices([
        "yes",
        "no",
      ]),
    )
    .addOption(
      new Option(
        "--include-revenue <answer>",
        "say in webhooks and in the list of events what each is worth to the publisher",
      ).choices(["yes", "no"]),
    );
}

function settingsOf(options: SettingOptions): object {
  const { codeLifetime, cooldown, tester, blockCategory, blockAdvertiser, ...named } = options;
  const { skipOffer, closeWhenCredited, includeRevenue, ...others } = named;
  const cleared = clearable.filter((name) => others[name] === "none").map((name) => [name, null]);
  const renamed = { codeLifetimeSeconds: codeLifetime, cooldownSeconds: cooldown, testers: tester };
  const blocked = { blockedCategories: listOf(blockCategory), blockedAdvertisers: listOf(blockAdvertiser) };
  const answers = {
    skipOffer: isYes(skipOffer),
    closeWhenCredited: isYes(closeWhenCredited),
    includeRevenue: isYes(includeRevenue),
  };
  return { ...others, ...renamed, ...blocked, ...answers, ...Object.fromEntries(cleared) };
}

const isYes = (answer: string | undefined) => (answer === undefined ? undefined : answer === "yes");

function listOf(words: string[] | undefined): string[] | undefined {
  return words?.length === 1 && words[0] === "none" ? [] : words;
}

const clearable = [
  "username",
  "webhookUrl",
  "publisherApiUrl",
  "category",
  "rewardPerView",
  "rewardPerClick",
  "rewardUnit",
];
const wholeNumberOrNone = (text: string) => (text === "none" ? text : wholeNumber(text));

const columns = {
  "BOT ID": (bot: Row) => bot.botId,
  NAME: (bot: Row) => bot.name,
  STATE: (bot: Row) => (bot.isSuspended ? "suspended" : "active"),
  WEBHOOK: (bot: Row) => bot.webhookUrl,
  COOLDOWN: (bot: Row) => `${bot.cooldownSeconds} s`,
  "DAILY CAP": (bot: Row) => bot.dailyCap,
};
