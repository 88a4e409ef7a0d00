import { parseArgs } from "node:util";
import { unreadEnvFiles } from "@intermission/server/unread-env-files";
import { apiTokens, botIdOf, serverAddress } from "../client-settings.ts";
import { createAds } from "../create-ads.ts";
import { readSecret } from "../read-secret.ts";
import { doctor } from "./doctor.ts";
import { listen } from "./listen.ts";
import { showDeliveries } from "./show-deliveries.ts";
import { type StatsTable, showReferenceStats, showStats } from "./show-stats.ts";
import { trigger } from "./trigger.ts";

export const help = `Usage: intermission-publisher <command> [options]

Commands:
  listen    show the bot's new events, and forward test events to a local webhook
  doctor    check the token, the bot, the clock, the webhook and the mini-app's link
  trigger   have a test event with a test code of a listed tester sent to the bot's webhook
  deliveries [event-id]
            show the attempts to send events, with the answers and what to check
  stats     show the bot's numbers
  earnings  show what the bot earned

Options of all:
  --url <address>      of the ad service (AD_SERVICE_URL)
  --token <token>      the bot's API token (AD_API_TOKEN)
  --bot-id <digits>    the bot's Telegram id (BOT_ID, or the beginning of TELEGRAM_BOT_TOKEN)
  --help

AD_API_TOKEN_FILE and TELEGRAM_BOT_TOKEN_FILE name files that contain these tokens instead.

Options of listen:
  --forward <address>  where test events are sent, signed as the ad service signs them
  --all                also forward events that users earned; the handler may pay them
  --send-test          forward one test event at once, made here

Options of trigger:
  --user <digits>      a listed tester of the bot, whom a receiver with paysTesters pays
  --event <type>       rewarded (default) or direct_link

Options of stats and earnings:
  --from, --to <time>  a date, a date-time with an offset, or such as 7d or 24h ago; the last 7 days by default
  --by <key>           hour, day (default), campaign, creative or reference
  --reference-prefix <text>
                       only what codes earned whose reference begins with it; by hour, day or reference

Prefer the environment variables: other users of this machine can see the options of a command.

Examples:
  intermission-publisher listen --forward http://127.0.0.1:3000/webhooks/ads --send-test
  intermission-publisher doctor
  intermission-publisher earnings --from 30d
  intermission-publisher earnings --reference-prefix shop- --by reference
`;

export interface CliHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  write(line: string): void;
  writeError(line: string): void;
  /** Ends `listen`. */
  readonly signal: AbortSignal;
  /** Between two readings of the list of events; 1 s by default. */
  readonly pollMs?: number;
}

const options = {
  url: { type: "string" },
  token: { type: "string" },
  "bot-id": { type: "string" },
  forward: { type: "string" },
  all: { type: "boolean" },
  "send-test": { type: "boolean" },
  user: { type: "string" },
  event: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
  by: { type: "string" },
  "reference-prefix": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

const commands = ["listen", "doctor", "trigger", "deliveries", "stats", "earnings"] as const;
type Command = (typeof commands)[number];

/** The options of one command alone. */
const commandsOf = {
  forward: ["listen"],
  all: ["listen"],
  "send-test": ["listen"],
  user: ["trigger"],
  event: ["trigger"],
  from: ["stats", "earnings"],
  to: ["stats", "earnings"],
  by: ["stats", "earnings"],
  "reference-prefix": ["stats", "earnings"],
} satisfies Partial<Record<keyof typeof options, readonly Command[]>>;

const eventTypes = ["rewarded", "direct_link"] as const;
const statsKeys = ["hour", "day", "campaign", "creative"] as const;
const referenceKeys = ["hour", "day", "reference"] as const;
const allKeys = ["hour", "day", "campaign", "creative", "reference"] as const;

/** Runs a command and returns its exit code: 0, 1 if it failed, 2 if it was called wrongly. */
export async function runCli(words: readonly string[], host: CliHost): Promise<number> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(words);
  } catch (error) {
    return misuse(host, error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  const [command, ...others] = positionals;
  if (values.help || (command === undefined && words.length === 0)) {
    host.write(help);
    return 0;
  }
  if (!isOneOf(commands, command)) return misuse(host, `there is no command "${command ?? ""}"`);
  const [unexpected] = command === "deliveries" ? others.slice(1) : others;
  if (unexpected !== undefined) return misuse(host, `unexpected argument "${unexpected}"`);

  const { env } = host;
  const faults: string[] = [];
  const address = { option: "--url", variable: "AD_SERVICE_URL", server: "the ad service", path: "/client/v1" };
  const url = read(faults, () => serverAddress(values.url ?? env.AD_SERVICE_URL, address));
  const token = read(
    faults,
    () =>
      apiTokens(values.token ?? readSecret("AD_API_TOKEN", env), { option: "--token", variable: "AD_API_TOKEN" })[0],
  );
  const botId = read(faults, () => botIdFrom(values["bot-id"], env));
  const { event = "rewarded", by = "day", user } = values;
  const misuses = [
    ...Object.entries(commandsOf).map(
      ([name, allowed]: [string, readonly Command[]]) =>
        values[name as keyof typeof values] !== undefined &&
        !allowed.includes(command) &&
        `--${name} belongs to ${allowed.join(" and ")}, not to ${command}`,
    ),
    command === "trigger" && user === undefined && "--user is missing: the Telegram id of a listed tester of the bot",
    !isOneOf(eventTypes, event) && `--event must be ${eventTypes.join(" or ")}`,
    !isOneOf(allKeys, by) && `--by must be one of ${allKeys.join(", ")}`,
    isOneOf(allKeys, by) &&
      !isOneOf(referenceKeys, by) &&
      values["reference-prefix"] !== undefined &&
      `--by ${by} does not go with --reference-prefix: choose one of ${referenceKeys.join(", ")}`,
    values.forward !== undefined &&
      !isWebAddress(values.forward) &&
      "--forward must be an address that begins with http",
    values["send-test"] && values.forward === undefined && "--send-test needs --forward",
    values.all && values.forward === undefined && "--all needs --forward",
  ];
  faults.push(...misuses.filter((fault) => typeof fault === "string"));
  if (faults.length > 0) {
    const files = unreadEnvFiles(
      faults.flatMap((fault) => /\((\w+)\) is missing/.exec(fault)?.slice(1) ?? []),
      env,
    );
    return misuse(host, [...faults, ...files].join("\n"));
  }

  const bot = { url, token, botId, ads: createAds({ url, token, botId }) };
  const { ads } = bot;
  const period = { from: values.from, to: values.to };
  const prefix = values["reference-prefix"] ?? (by === "reference" ? "" : undefined);
  const show = (table: StatsTable) => {
    if (prefix === undefined) return showStats(ads, { table, query: { ...period, by: keyIn(statsKeys, by) } }, host);
    return showReferenceStats(ads, { prefix, query: { ...period, by: keyIn(referenceKeys, by) } }, host);
  };
  const listening = { forward: values.forward, isAll: values.all === true, isTestSent: values["send-test"] === true };
  const run = {
    listen: () => listen(bot, listening, host),
    doctor: () => doctor(bot, host),
    trigger: () => trigger(ads, { userId: user ?? "", event: event === "direct_link" ? event : "rewarded" }, host),
    deliveries: () => showDeliveries(ads, others[0], host),
    stats: () => show("stats"),
    earnings: () => show("earnings"),
  } satisfies Record<Command, () => Promise<number>>;
  return run[command]();
}

/** The bot of the option, else that of the environment, whose two variables must name the same one. */
function botIdFrom(option: string | undefined, env: CliHost["env"]): string {
  const named = { option: "--bot-id", variable: "BOT_ID" };
  if (option !== undefined) return botIdOf(option, named);
  const [ofToken = ""] = readSecret("TELEGRAM_BOT_TOKEN", env).split(":", 1);
  const own = botIdOf(env.BOT_ID || ofToken, named);
  if (/^[0-9]+$/.test(ofToken) && ofToken !== own)
    throw new TypeError(`BOT_ID is ${own}, and TELEGRAM_BOT_TOKEN is that of bot ${ofToken}: correct one of them`);
  return own;
}

function isOneOf<Word extends string>(words: readonly Word[], text: string | undefined): text is Word {
  return words.some((word) => word === text);
}

function keyIn<Word extends string>(words: readonly Word[], text: string): Word | undefined {
  return words.find((word) => word === text);
}

function parse(words: readonly string[]) {
  return parseArgs({ args: [...words], options, allowPositionals: true });
}

/** Collects the fault of a setting, so that all of them are reported at once. */
function read(faults: string[], setting: () => string): string {
  try {
    return setting();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    faults.push(error.message);
    return "";
  }
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function misuse(host: CliHost, message: string): number {
  host.writeError(`${message}\nintermission-publisher --help lists the commands and options.`);
  return 2;
}
