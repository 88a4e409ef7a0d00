import { telegramId } from "@intermission/ad-core/client-api";
import { z } from "zod";

const loopback = ["127.0.0.1", "::1", "localhost"];

const variables = z.object({
  MODE: z.literal("demo", { error: "must be demo: this bot plays Telegram and never runs in production" }),
  HOST: z
    .string()
    .refine((host) => loopback.includes(host), "must be a loopback address")
    .default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8700),
  DATA_DIR: z.string().default("data"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  API_URL: z.url({ protocol: /^https?$/ }),
  BACKEND_API_KEY: z.string().min(32),
  BOT_ID: telegramId,
  TELEGRAM_BOT_TOKEN: z.string().min(1),
  /** Ed25519, PKCS #8 DER in base64: the demo's stand-in for Telegram's own key. */
  DEMO_TELEGRAM_PRIVATE_KEY: z.string().min(1),
  MINIAPP_URL: z.url({ protocol: /^https?$/ }),
  COOLDOWN_SECONDS: z.coerce.number().int().min(0).max(86_400).default(15),
});

/** Reads the environment once. Throws one message that names every fault. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = variables.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`The configuration has faults:\n${faults.join("\n")}`);
  }
  const read = parsed.data;
  return {
    host: read.HOST,
    port: read.PORT,
    dataFolder: `${read.DATA_DIR}/demo-bot`,
    logLevel: read.LOG_LEVEL,
    apiUrl: read.API_URL.replace(/\/+$/, ""),
    backendApiKey: read.BACKEND_API_KEY,
    cooldownSeconds: read.COOLDOWN_SECONDS,
    miniappOrigin: new URL(read.MINIAPP_URL).origin,
    telegram: {
      botId: read.BOT_ID,
      botToken: read.TELEGRAM_BOT_TOKEN,
      privateKey: read.DEMO_TELEGRAM_PRIVATE_KEY,
    },
  };
}
