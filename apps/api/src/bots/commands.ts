import { readFileSync } from "node:fs";
import { type PayPerCode, payPerCode } from "@intermission/ad-core/client-words";
import { type CommandContext, OperatorRefusal, withExamples } from "@intermission/server/command-line";
import { existingFile, telegramIdOption, wholeNumber } from "@intermission/server/command-options";
import { recordOf, tableOf } from "@intermission/server/command-tables";
import { type Command, Option } from "commander";
import type { BotAnswer, BotChange, BotVerbs, ListedBot, SettingsChange } from "./bot-records.ts";
import { type TwoFieldMode, twoFieldModes } from "./bot-records.ts";

export function botCommands(program: Command, context: CommandContext<BotVerbs>): void {
  const bots = program.command("bots").description("the bots that the companion API serves");

  const add = bots.command("add").description("add a bot; the key of its backend is shown only once");
  withExamples(withSettings(add), [
    "bots add --bot-id 7000000001 --ad-token-file ad-token --telegram-token-file telegram-token",
    "bots add --bot-id 7000000001 --ad-token-file ad-token --telegram-token-file telegram-token --daily-cap 20 --json",
  ])
    .requiredOption("--bot-id <id>", "its Telegram id: the digits before the colon of its token", telegramIdOption)
    .requiredOption("--ad-token-file <path>", "file with the ad service's token of the bot", existingFile)
    .requiredOption("--telegram-token-file <path>", "file with the token from @BotFather", existingFile)
    .action(async ({ botId, adTokenFile, telegramTokenFile, ...options }: SettingOptions & AddOptions) => {
      const secrets = { adToken: secretIn(adTokenFile), telegramToken: secretIn(telegramTokenFile) };
      const client = await context.client();
      tell(context, await client.addBot({ botId, ...secrets, settings: settingsOf(options) }));
    });

  withExamples(bots.command("list").description("all bots, also removed ones"), [
    "bots list",
    "bots list --json",
  ]).action(async () => {
    const listed = await (await context.client()).listBots();
    context.print(listed, () => tableOf(listed, columns));
  });

  ofOneBot(bots, "show", "show a bot and its settings, without its secrets").action(async (botId: string) => {
    const bot = (await (await context.client()).listBots()).find((each) => each.botId === botId);
    if (!bot) throw new OperatorRefusal(404, "NOT_FOUND", `there is no bot ${botId}`);
    context.print(bot, () => recordOf({ ...bot }));
  });

  const change = async (botId: string, requested: BotChange) => {
    const client = await context.client();
    tell(context, await client.changeBot(botId, requested));
  };

  withSettings(ofOneBot(bots, "set", "change settings of a bot; the others stay", " --daily-cap 20")).action(
    (botId: string, options: SettingOptions) => change(botId, { kind: "settings", settings: settingsOf(options) }),
  );

  droppingPrevious(
    ofOneBot(bots, "rotate-key", "make a new key for the bot's backend, shown only once; the last one stays valid"),
  ).action((botId: string, { dropPrevious = false }: { dropPrevious?: boolean }) =>
    change(botId, { kind: "backend-key", dropsPrevious: dropPrevious }),
  );

  droppingPrevious(
    ofOneBot(
      bots,
      "rotate-ad-token",
      "use another token of the ad service; webhooks may still be signed with the last one",
      " --ad-token-file ad-token",
    ),
  )
    .requiredOption("--ad-token-file <path>", "file with the new token", existingFile)
    .action((botId: string, { adTokenFile, dropPrevious = false }: { adTokenFile: string; dropPrevious?: boolean }) =>
      change(botId, { kind: "ad-token", token: secretIn(adTokenFile), dropsPrevious: dropPrevious }),
    );

  const newTelegramToken = " --telegram-token-file telegram-token";
  ofOneBot(bots, "rotate-telegram-token", "replace the token from @BotFather; sign-ins end", newTelegramToken)
    .requiredOption("--telegram-token-file <path>", "file with the new token", existingFile)
    .action((botId: string, { telegramTokenFile }: { telegramTokenFile: string }) =>
      change(botId, { kind: "telegram-token", token: secretIn(telegramTokenFile) }),
    );

  ofOneBot(bots, "remove", "serve the bot no longer and delete its secrets; its ledger stays").action((botId: string) =>
    change(botId, { kind: "removal" }),
  );
}

interface AddOptions {
  botId: string;
  adTokenFile: string;
  telegramTokenFile: string;
}

interface SettingOptions {
  username?: string;
  miniAppName?: string;
  rewardRewarded?: number;
  rewardDirectLink?: number;
  rewardTask?: number;
  dailyCap?: number | "none";
  payPerCode?: PayPerCode;
  twoFieldEvents?: TwoFieldMode;
}

function withSettings(command: Command): Command {
  return command
    .option("--username <name>", "its @username, without the @; none clears it")
    .option("--mini-app-name <name>", "its mini-app's short name, for links into Telegram; none clears it")
    .option("--reward-rewarded <units>", "units for a view (1)", wholeNumber)
    .option("--reward-direct-link <units>", "units for a click of a direct link (1)", wholeNumber)
    .option("--reward-task <units>", "units for a task (1)", wholeNumber)
    .option(
      "--daily-cap <number>",
      "most paid views and clicks of a user in a UTC day; none clears it",
      wholeNumberOrNone,
    )
    .addOption(new Option("--pay-per-code <rule>", "what a code pays (once)").choices(payPerCode.options))
    .addOption(new Option("--two-field-events <mode>", "events without an id (off)").choices(twoFieldModes));
}

function settingsOf({ username, miniAppName, dailyCap, ...others }: SettingOptions): SettingsChange {
  const { rewardRewarded, rewardDirectLink, rewardTask, payPerCode, twoFieldEvents } = others;
  return {
    rewardRewarded,
    rewardDirectLink,
    rewardTask,
    payPerCode,
    twoFieldEvents,
    username: cleared(username),
    miniAppName: cleared(miniAppName),
    dailyCap: cleared(dailyCap),
  };
}

function cleared<Value>(value: Value | "none"): Value | null {
  return value === "none" ? null : value;
}

function wholeNumberOrNone(text: string): number | "none" {
  return text === "none" ? text : wholeNumber(text);
}

/** Secrets are read from files: other users of the machine can list command lines. */
function secretIn(path: string): string {
  return readFileSync(path, "utf8").trim();
}

function ofOneBot(bots: Command, verb: string, description: string, example = ""): Command {
  const command = bots.command(verb).description(description);
  withExamples(command, [`bots ${verb} 7000000001${example}`]);
  return command.argument("<bot-id>", "its Telegram id", telegramIdOption);
}

function droppingPrevious(command: Command): Command {
  return command.option("--drop-previous", "refuse every earlier one from now on");
}

const statusOf = { NOT_FOUND: 404, CONFLICT: 409, BAD_REQUEST: 400 };

function tell(context: CommandContext<BotVerbs>, answer: BotAnswer): void {
  if (answer.outcome === "refused") throw new OperatorRefusal(statusOf[answer.code], answer.code, answer.message);
  const { bot, backendApiKey } = answer;
  context.print(backendApiKey === undefined ? bot : { ...bot, backendApiKey }, () => {
    const record = recordOf({ ...bot });
    if (backendApiKey === undefined) return record;
    return `${record}\n\nKey of its backend: ${backendApiKey}\nKeep it now: it is not shown again. The bot's webhook address ends with /webhooks/ads/${bot.botId}`;
  });
}

const columns: Record<string, (bot: ListedBot) => string | number | null> = {
  "BOT ID": ({ botId }) => botId,
  STATE: ({ state }) => state,
  USERNAME: ({ username }) => username,
  VIEW: ({ rewardRewarded }) => rewardRewarded,
  "DIRECT LINK": ({ rewardDirectLink }) => rewardDirectLink,
  TASK: ({ rewardTask }) => rewardTask,
  "DAILY CAP": ({ dailyCap }) => dailyCap,
  ADDED: ({ addedAt }) => addedAt,
};
