import { parseArgs } from "node:util";
import { mistypedSettingsIn } from "../packages/server/src/mistyped-settings.ts";
import { type BotKindName, botKinds, isBotKind } from "./make-bot.ts";
import { Problem } from "./say.ts";

/** A bot of one's own, for which the simulated phone signs launch data. */
export interface OwnBotOptions {
  readonly botId: string;
  readonly webhookUrl: string | undefined;
  /** Its API token, if it was added before without this option. */
  readonly apiToken: string | undefined;
}

export interface StartOptions {
  readonly isHelp: boolean;
  readonly isWatched: boolean;
  readonly ownBot: OwnBotOptions | undefined;
  /** Make the folder of a bot first. */
  readonly made: { readonly kind: BotKindName; readonly folder: string } | undefined;
}

export const startHelp = `npm start [-- options]

Starts an ad service, a companion API and a demo chat on this machine, in demo mode, on 127.0.0.1 only.

  --bot <id>           simulate the phone for a bot of your own instead of the demo's: its users' launch data are signed as
                       Telegram would sign them. A bot that the ad service does not know is added. Your bot's program
                       uses the chat in place of Telegram (BOT_API_URL); without it, the chat offers the bot's ads itself
  --webhook-url <url>  where events of that bot are sent; http://127.0.0.1:3000/webhooks/ads, for example. A bot without a
                       webhook address uses the companion API, which runs for it, too
  --make-bot <kind> <folder>
                       make the program of a bot in a new folder, from an example, and say how to start it. Kinds:
                       ${Object.keys(botKinds).slice(0, 8).join(", ")},
                       ${Object.keys(botKinds).slice(8).join(", ")}
  --watch              restart a server when its sources change
  --help               show this text

Environment: AD_API_TOKEN, the API token of --bot if the bot was added with \`pnpm ads bots add\`; DATA_DIR (./data);
DEMO_BOT_PORT (8700), AD_SERVICE_PORT (8701), API_PORT (8702); LOG_LEVEL. Other settings of the servers are passed on to
them, except those that the demo sets itself, which are named.`;

const variables = ["AD_API_TOKEN", "DATA_DIR", "DEMO_BOT_PORT", "AD_SERVICE_PORT", "API_PORT", "LOG_LEVEL"];

/** What the environment sets under a name that is nearly one of these. */
export function mistypedVariables(env: NodeJS.ProcessEnv): string[] {
  return mistypedSettingsIn(env, { names: variables, secrets: [] });
}

const loopback = ["127.0.0.1", "localhost", "::1"];

/** Reads the words after `npm start --`. */
export function readStartOptions(words: readonly string[], env: NodeJS.ProcessEnv): StartOptions {
  const { values, positionals } = parse(words);
  const { help: isHelp, watch: isWatched } = values;
  return { isHelp, isWatched, ownBot: ownBotOf(values, env), made: madeOf(values["make-bot"], positionals) };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        bot: { type: "string" },
        "webhook-url": { type: "string" },
        "make-bot": { type: "string" },
        watch: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new Problem(String(error instanceof Error ? error.message : error), "See npm start -- --help");
  }
}

function madeOf(kind: string | undefined, positionals: readonly string[]): StartOptions["made"] {
  const [folder, ...others] = positionals;
  const [unexpected] = kind === undefined ? positionals : others;
  if (unexpected !== undefined) throw new Problem(`There is no option ${unexpected}.`, "See npm start -- --help");
  if (kind === undefined) return undefined;
  if (!isBotKind(kind))
    throw new Problem(`There is no kind of bot "${kind}".`, `Choose one of ${Object.keys(botKinds).join(", ")}.`);
  if (folder === undefined)
    throw new Problem("The folder is missing.", `Name a new one: npm start -- --make-bot ${kind} ../my-bot`);
  return { kind, folder };
}

function ownBotOf(
  { bot: botId, "webhook-url": webhookUrl }: { bot?: string | undefined; "webhook-url"?: string | undefined },
  env: NodeJS.ProcessEnv,
): OwnBotOptions | undefined {
  if (botId === undefined) {
    if (webhookUrl === undefined) return undefined;
    throw new Problem("--webhook-url needs --bot.", "Name the bot: npm start -- --bot <id> --webhook-url <url>");
  }
  if (!/^[1-9][0-9]{0,15}$/.test(botId))
    throw new Problem(
      `"${botId}" is not the id of a bot.`,
      "Give the digits before the colon of its token; here any number will do.",
    );
  const { MODE: mode = "demo", HOST: host = "127.0.0.1" } = env;
  if (mode !== "demo" || !loopback.includes(host))
    throw new Problem(
      `--bot works only in demo mode and on a loopback address; this environment sets MODE=${mode} and HOST=${host}.`,
      "Whoever reaches the simulated phone can act as any user. Unset MODE and HOST.",
    );
  return { botId, webhookUrl, apiToken: env.AD_API_TOKEN || undefined };
}
