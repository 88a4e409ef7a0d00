import { join, resolve } from "node:path";
import { payPerCode } from "@intermission/ad-core/client-words";
import { telegramId } from "@intermission/ad-core/wire-fields";
import { mistypedSettingsIn } from "@intermission/server/mistyped-settings";
import {
  databaseLimitsOf,
  databaseLimitVariables,
  databaseUrl,
  drainSeconds,
  embeddedBuffers,
  headerSecret,
  keyFaults,
  listenVariables,
  logLevel,
  logUserIds,
  portNumber,
  previousEncryptionKey,
  readSettings,
  requiredAddress,
  runMode,
  storeDirectory,
  telegramBotToken,
  trustedProxies,
  wholeNumberSetting,
} from "@intermission/server/settings";
import { tracingOf, tracingVariables } from "@intermission/server/tracing-settings";
import { z } from "zod";
import type { ConfiguredBot } from "./bots/bot.ts";
import { twoFieldModes } from "./bots/bot-records.ts";

const wholeUnits = wholeNumberSetting({ min: 0, max: 1_000_000 });
const random = "make one with: openssl rand -base64 32";

/** What is often pasted in place of the ad service's API token. The message never repeats it. */
const token = z
  .string()
  .refine((text) => !/^["'`]|["'`]$/.test(text), "is in quotes: remove the quotes")
  .refine((text) => !/^bearer\b/i.test(text), 'begins with "Bearer": remove the word')
  .refine(
    (text) => !/^[0-9]+:/.test(text),
    "is a token of @BotFather, and must be one of the ad service: pnpm ads tokens create --bot-id … makes one",
  )
  .min(16, "each token has at least 16 characters")
  .regex(/^[\x21-\x7e]*$/, "each token is ASCII without blanks; they are separated by commas");

const variables = z.object({
  MODE: runMode,
  ...listenVariables,
  PORT: portNumber.default(8702).describe("the port to listen on"),
  ...tracingVariables,
  DRAIN_SECONDS: drainSeconds,
  DATABASE_URL: databaseUrl,
  DATA_DIR: storeDirectory,
  EMBEDDED_BUFFERS_MB: embeddedBuffers,
  ...databaseLimitVariables,
  LOG_LEVEL: logLevel,
  LOG_USER_IDS: logUserIds,
  TRUST_PROXY: trustedProxies,
  AD_SERVICE_URL: requiredAddress("the ad service's base, without /client/v1")
    .refine(
      (address) => !/\/client(\/|$)/.test(new URL(address).pathname),
      "must be the ad service's base: remove /client/v1 from its end",
    )
    .describe("the ad service's address, without `/client/v1`"),
  ENCRYPTION_KEY: z
    .base64({ error: `must be 32 bytes in base64; ${random}` })
    .transform((text) => Buffer.from(text, "base64"))
    .refine((key) => key.byteLength === 32, { error: `must be 32 bytes in base64; ${random}` })
    .optional()
    .describe(
      "32 bytes in base64 that encrypt the tokens of the bots that `pnpm api bots add` adds, such as the ad service's key. With it, `BOT_ID`, `AD_API_TOKENS`, `TELEGRAM_BOT_TOKEN` and `BACKEND_API_KEY` may be left out together",
    ),
  PREVIOUS_ENCRYPTION_KEY: previousEncryptionKey,
  BOT_ID: telegramId.optional().describe("the bot's id"),
  AD_API_TOKENS: z
    .string()
    .transform((list) => list.split(",").map((token) => token.trim()))
    .pipe(z.tuple([token], token))
    .optional()
    .describe(
      "the bot's tokens from the ad service, newest first, separated by commas; calls use the first, webhooks may use any",
    ),
  TELEGRAM_BOT_TOKEN: telegramBotToken
    .optional()
    .describe("the bot's token from @BotFather; it verifies who opened the mini-app"),
  BACKEND_API_KEY: headerSecret(32, random)
    .optional()
    .describe("the key that your bot's backend authenticates with, at least 32 characters"),
  MINIAPP_URL: requiredAddress("where the mini-app is served, without the bot's id").describe(
    "the same value as that of the ad service, for ready-made buttons",
  ),
  DIRECT_LINK_URL: requiredAddress("the part before /{code} of a direct link").describe(
    "the same value as that of the ad service, for ready-made links",
  ),
  BOT_USERNAME: z
    .string()
    .regex(/^\w{4,32}$/, "is the name without @")
    .optional()
    .describe("the bot's name without @, for `startapp` links"),
  MINI_APP_NAME: z
    .string()
    .regex(/^\w{3,30}$/, "is the short name that @BotFather was given")
    .optional()
    .describe("the short name from `/newapp`, for `startapp` links"),
  REWARD_REWARDED: wholeUnits.default(1).describe("whole units paid for a view"),
  REWARD_DIRECT_LINK: wholeUnits.default(1).describe("whole units paid for a followed link"),
  REWARD_TASK: wholeUnits.default(1).describe("whole units paid for a task"),
  DAILY_CAP: wholeNumberSetting({ min: 1, max: 1_000_000 })
    .optional()
    .describe("paid views and clicks of a user in a UTC day, at most"),
  PAY_PER_CODE: payPerCode
    .default("once")
    .describe("`each` pays both the view and the link of a code; the bot's `--pay-per-code` must be the same"),
  TWO_FIELD_EVENTS: z
    .enum(twoFieldModes)
    .default("off")
    .describe("`match` records events without an id on the user's oldest open code; not safe against replays"),
});

/** The server's settings with their meaning, by name. */
export const settings = variables.shape;
export const settingNames = Object.keys(settings);
/** Needed for the bot of the environment. Without all of them, and with ENCRYPTION_KEY, only the table's bots are served. */
const ofBot = ["BOT_ID", "AD_API_TOKENS", "TELEGRAM_BOT_TOKEN", "BACKEND_API_KEY"] as const;
type OfBot = (typeof ofBot)[number];

function neededFor(name: OfBot, howToGetOne: string) {
  const isSet = (read: Partial<Record<OfBot | "ENCRYPTION_KEY", unknown>>) =>
    read[name] !== undefined || (read.ENCRYPTION_KEY !== undefined && ofBot.every((each) => read[each] === undefined));
  const fault: { path: string[]; error: string; when: ReturnType<typeof areSound> } = {
    path: [name],
    error: `is missing; ${howToGetOne}`,
    when: areSound(name),
  };
  return [isSet, fault] as const;
}

const configuration = variables
  .refine(...neededFor("BOT_ID", "it is the number before the colon of the bot's token"))
  .refine(...neededFor("AD_API_TOKENS", "the ad service's token of this bot: pnpm ads tokens create --bot-id …"))
  .refine(...neededFor("TELEGRAM_BOT_TOKEN", "@BotFather shows it"))
  .refine(...neededFor("BACKEND_API_KEY", random))
  .refine((read) => !read.BOT_ID || (read.TELEGRAM_BOT_TOKEN?.startsWith(`${read.BOT_ID}:`) ?? true), {
    path: ["TELEGRAM_BOT_TOKEN"],
    error: "is the token of another bot: it begins with the bot's id, which is not BOT_ID",
    when: areSound("TELEGRAM_BOT_TOKEN", "BOT_ID"),
  })
  .refine((read) => read.MODE === "demo" || read.MINIAPP_URL.startsWith("https:"), {
    path: ["MINIAPP_URL"],
    error: "must be https in production: Telegram opens only https addresses",
    when: areSound("MODE", "MINIAPP_URL"),
  })
  .refine((read) => read.MODE === "demo" || read.DIRECT_LINK_URL.startsWith("https:"), {
    path: ["DIRECT_LINK_URL"],
    error: "must be https in production: the code in it is worth money",
    when: areSound("MODE", "DIRECT_LINK_URL"),
  })
  .refine((read) => read.METRICS_PORT === undefined || read.METRICS_TOKEN || isLoopback(read.METRICS_HOST), {
    path: ["METRICS_TOKEN"],
    error: "is missing: METRICS_HOST can be reached from other machines, and metrics are not public",
    when: areSound("METRICS_PORT", "METRICS_HOST", "METRICS_TOKEN"),
  })
  .refine((read) => !read.METRICS_PORT || read.METRICS_PORT !== read.PORT, {
    path: ["METRICS_PORT"],
    error: "is the same as PORT: with METRICS_TOKEN, PORT serves the metrics without it",
    when: areSound("METRICS_PORT", "PORT"),
  });

function isLoopback(host: string): boolean {
  return ["localhost", "::1"].includes(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

/** By default refinements run only when every field is valid; all faults must be reported at once. */
function areSound(...names: (keyof typeof variables.shape)[]) {
  return ({ issues }: { issues: { path?: PropertyKey[] | undefined }[] }) =>
    !issues.some(({ path }) => names.some((name) => name === path?.[0]));
}

/** Each may be read from a file that `NAME_FILE` names. */
export const secrets = [
  "DATABASE_URL",
  "ENCRYPTION_KEY",
  "AD_API_TOKENS",
  "TELEGRAM_BOT_TOKEN",
  "BACKEND_API_KEY",
  "METRICS_TOKEN",
  "PREVIOUS_ENCRYPTION_KEY",
  "OTEL_EXPORTER_OTLP_HEADERS",
];

const known = { names: settingNames, secrets };

const commandVariables = variables.pick({
  DATABASE_URL: true,
  DATA_DIR: true,
  EMBEDDED_BUFFERS_MB: true,
  DATABASE_POOL_SIZE: true,
  DATABASE_SILENT_SECONDS: true,
  DATABASE_CONNECT_TIMEOUT_SECONDS: true,
  DATABASE_STATEMENT_TIMEOUT_SECONDS: true,
  BOT_ID: true,
  ENCRYPTION_KEY: true,
  PREVIOUS_ENCRYPTION_KEY: true,
  BACKEND_API_KEY: true,
});

export type CommandConfig = ReturnType<typeof readCommandConfig>;

/** Reads the command line's configuration from its environment: the store's location and its bot. */
export function readCommandConfig(environment: NodeJS.ProcessEnv = process.env) {
  const read = readSettings(commandVariables, environment, { ...known, crossFaults: keyFaults });
  const { BOT_ID: botId, ENCRYPTION_KEY: encryptionKey, PREVIOUS_ENCRYPTION_KEY: previousEncryptionKey } = read;
  const mistypedSettings = mistypedSettingsIn(environment, known);
  const logIdSecrets = [encryptionKey ?? read.BACKEND_API_KEY, previousEncryptionKey];
  return { ...storeOf(read), mistypedSettings, botId, encryptionKey, previousEncryptionKey, logIdSecrets };
}

function storeOf(read: z.output<typeof commandVariables>) {
  const dataDirectory = resolve(read.DATA_DIR);
  return {
    databaseUrl: read.DATABASE_URL,
    dataDirectory,
    /** What is this server's own. */
    dataFolder: join(dataDirectory, "api"),
    buffersMegabytes: read.EMBEDDED_BUFFERS_MB,
    poolSize: read.DATABASE_POOL_SIZE,
    databaseLimits: databaseLimitsOf(read),
  };
}

export type Config = ReturnType<typeof readConfig>;

/** Reads the environment once. Throws one message that names every fault. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const read = readSettings(configuration, environment, { ...known, crossFaults: keyFaults });
  return {
    mode: read.MODE,
    host: read.HOST,
    port: read.PORT,
    ...storeOf(read),
    hasApiReference: (read.API_REFERENCE ?? (read.MODE === "demo" ? "on" : "off")) === "on",
    logLevel: read.LOG_LEVEL,
    logUserIds: read.LOG_USER_IDS,
    /** The first is shared with the ad service, where both have the same. */
    logIdSecret: read.ENCRYPTION_KEY ?? read.BACKEND_API_KEY,
    /** What the environment sets and nothing reads, for the log. */
    mistypedSettings: mistypedSettingsIn(environment, known),
    trustProxy: read.TRUST_PROXY,
    metrics: { port: read.METRICS_PORT, host: read.METRICS_HOST, token: read.METRICS_TOKEN },
    /** Undefined: nothing is traced. */
    tracing: tracingOf(read),
    drainMs: read.DRAIN_SECONDS * 1000,
    adServiceUrl: read.AD_SERVICE_URL,
    encryptionKey: read.ENCRYPTION_KEY,
    previousEncryptionKey: read.PREVIOUS_ENCRYPTION_KEY,
    miniappOrigin: new URL(read.MINIAPP_URL).origin,
    links: { miniappUrl: read.MINIAPP_URL, directLinkUrl: read.DIRECT_LINK_URL },
    /** The one of the environment; undefined: only the table's bots are served. */
    bot: botOf(read),
  };
}

function botOf(read: z.output<typeof configuration>): ConfiguredBot | undefined {
  const { BOT_ID, AD_API_TOKENS, TELEGRAM_BOT_TOKEN, BACKEND_API_KEY } = read;
  if (!BOT_ID || !AD_API_TOKENS || !TELEGRAM_BOT_TOKEN || !BACKEND_API_KEY) return undefined;
  return {
    botId: BOT_ID,
    adApiTokens: AD_API_TOKENS,
    telegramBotToken: TELEGRAM_BOT_TOKEN,
    backendApiKey: BACKEND_API_KEY,
    botUsername: read.BOT_USERNAME,
    miniAppName: read.MINI_APP_NAME,
    payout: {
      rewarded: read.REWARD_REWARDED,
      directLink: read.REWARD_DIRECT_LINK,
      task: read.REWARD_TASK,
      dailyCap: read.DAILY_CAP,
      perCode: read.PAY_PER_CODE,
    },
    twoFieldEvents: read.TWO_FIELD_EVENTS,
  };
}
