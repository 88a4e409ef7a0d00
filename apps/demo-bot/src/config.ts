import { createPrivateKey } from "node:crypto";
import { telegramId } from "@intermission/ad-core/wire-fields";
import {
  logLevel,
  logUserIds,
  portNumber,
  readSettings,
  requiredAddress,
  telegramBotToken,
  wholeNumberSetting,
} from "@intermission/server/settings";
import { z } from "zod";

const loopback = ["127.0.0.1", "::1", "localhost"];

function required(whatItIs: string) {
  return z.string({ error: `is missing; it is ${whatItIs}` });
}

function isEd25519(key: string): boolean {
  try {
    const { asymmetricKeyType } = createPrivateKey({ key: Buffer.from(key, "base64"), format: "der", type: "pkcs8" });
    return asymmetricKeyType === "ed25519";
  } catch {
    return false;
  }
}

const serverVariables = {
  MODE: z.literal("demo", { error: "must be demo: this bot simulates Telegram and never runs in production" }),
  HOST: z
    .string()
    .refine(
      (host) => loopback.includes(host),
      "must be a loopback address: anyone who reaches this server can act as any user",
    )
    .default("127.0.0.1"),
  PORT: portNumber.default(8700),
  DATA_DIR: z.string().default("data"),
  LOG_LEVEL: logLevel,
  LOG_USER_IDS: logUserIds,
};

/** The ad service, whose views and webhooks the panel shows. */
const adServiceVariables = {
  AD_SERVICE_URL: requiredAddress("the ad service's"),
  AD_API_TOKEN: required("the bot's token for the ad service"),
  OPERATOR_TOKEN: required("the ad service's OPERATOR_TOKEN"),
};

/** For the demo's own bot, Coin Garden, whose backend is the companion API. */
const companionVariables = {
  API_URL: requiredAddress("the companion API's, without /trpc"),
  BACKEND_API_KEY: required("the companion API's BACKEND_API_KEY").min(32, "has at least 32 characters"),
  COOLDOWN_SECONDS: wholeNumberSetting({ min: 0, max: 604_800 }).default(15),
};

/** For a bot of one's own, which has BOT_NAME in place of API_URL. */
const ownBotVariables = { BOT_NAME: z.string() };

const telegramVariables = {
  BOT_ID: required("the number before the colon of the bot's token").pipe(telegramId),
  TELEGRAM_BOT_TOKEN: required("a made-up one, the same as the companion API's"),
  DEMO_TELEGRAM_PRIVATE_KEY: required("the demo's stand-in for Telegram's own key").refine(
    isEd25519,
    "must be an Ed25519 key, PKCS #8 DER in base64",
  ),
  MINIAPP_URL: requiredAddress("where the mini-app is served, without the bot's id"),
  TASK_BOT_TOKEN: telegramBotToken
    .optional()
    .describe("a made-up one, with which the ad service is the task bot of a channel"),
};

const shared = { ...serverVariables, ...adServiceVariables };
const coinGarden = z.object({ ...shared, ...companionVariables, ...telegramVariables });
const ownBot = z.object({ ...shared, ...ownBotVariables, ...telegramVariables });

export interface CoinGardenConfig {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly cooldownSeconds: number;
}

export interface OwnBotConfig {
  readonly botName: string;
}

/** Each may be read from a file that `NAME_FILE` names. */
const secrets = [
  "AD_API_TOKEN",
  "OPERATOR_TOKEN",
  "BACKEND_API_KEY",
  "TELEGRAM_BOT_TOKEN",
  "DEMO_TELEGRAM_PRIVATE_KEY",
  "TASK_BOT_TOKEN",
];

/** Parses the environment. Throws one error that lists every fault. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const read = environment.BOT_NAME
    ? readSettings(ownBot, environment, { secrets })
    : readSettings(coinGarden, environment, { secrets });
  return {
    host: read.HOST,
    port: read.PORT,
    dataFolder: `${read.DATA_DIR}/demo-bot`,
    logLevel: read.LOG_LEVEL,
    logUserIds: read.LOG_USER_IDS,
    adService: { url: read.AD_SERVICE_URL, apiToken: read.AD_API_TOKEN, operatorToken: read.OPERATOR_TOKEN },
    backend: backendOf(read),
    /** Undefined: the demo has no tasks. */
    taskBotToken: read.TASK_BOT_TOKEN,
    miniappOrigin: new URL(read.MINIAPP_URL).origin,
    telegram: {
      botId: read.BOT_ID,
      botToken: read.TELEGRAM_BOT_TOKEN,
      privateKey: read.DEMO_TELEGRAM_PRIVATE_KEY,
    },
  };
}

function backendOf(read: z.output<typeof coinGarden> | z.output<typeof ownBot>): CoinGardenConfig | OwnBotConfig {
  if ("BOT_NAME" in read) return { botName: read.BOT_NAME };
  return { apiUrl: read.API_URL, apiKey: read.BACKEND_API_KEY, cooldownSeconds: read.COOLDOWN_SECONDS };
}
