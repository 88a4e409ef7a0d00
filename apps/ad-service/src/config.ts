import { join, resolve } from "node:path";
import { telegramId } from "@intermission/ad-core/client-api";
import { canonicalAddress, hasUserInfo } from "@intermission/ad-core/web-address";
import { checkDatabaseUrl } from "@intermission/postgres/store-faults";
import { parseTrustProxy, trustProxyForm } from "@intermission/server/client-address";
import { StartFault } from "@intermission/server/start-fault";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { crossFaults, mediaFaults } from "./config-cross-faults.ts";
import type { MediaBucket } from "./creatives/bucket-storage.ts";

/** The only reader of `process.env` in this server. */

const makeKey = "make one with: openssl rand -base64 32";

const webAddress = z
  .url({ protocol: /^https?$/, error: "must be an address such as https://ads.example.com" })
  .refine((url) => !hasUserInfo(url), "must not hold a user name or password")
  .transform(canonicalAddress);

const listOf = (isOne: (text: string) => boolean, form: string) =>
  z
    .string()
    .transform((list) => list.split(",").map((one) => one.trim()))
    .refine((list) => list.every(isOne), { error: form });

const isNetwork = (text: string) => ipaddr.isValidCIDR(text) || ipaddr.isValid(text);

const storeVariables = {
  MODE: z.enum(["demo", "production"]).default("production"),
  DATABASE_URL: z.string().check(checkDatabaseUrl).optional(),
  DATA_DIR: z.string().default("data"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  MEDIA_DIR: z.string().optional(),
  S3_ENDPOINT: webAddress.optional(),
  S3_REGION: z.string().default("us-east-1"),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket")
    .optional(),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  WEBHOOK_ALLOWED_NETWORKS: listOf(isNetwork, "must be networks such as 10.0.0.0/8,fd00::/8").default([]),
  VAST_ALLOWED_NETWORKS: listOf(isNetwork, "must be networks such as 10.0.0.0/8,fd00::/8").default([]),
  VIDEO_ALLOWED_NETWORKS: listOf(isNetwork, "must be networks such as 10.0.0.0/8,fd00::/8").default([]),
  CURRENCY: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be an ISO 4217 currency code such as EUR")
    .default("USD"),
  ENCRYPTION_KEY: z
    .base64({
      error: ({ input }) =>
        input === undefined
          ? `is missing: it encrypts the bots' tokens; ${makeKey} (and keep it: without it the tokens are lost)`
          : `must be 32 bytes in base64; ${makeKey}`,
    })
    .transform((text) => Buffer.from(text, "base64"))
    .refine((key) => key.byteLength === 32, { error: `must be 32 bytes in base64; ${makeKey}` }),
};

type BucketVariable = "S3_ENDPOINT" | "S3_REGION" | "S3_BUCKET" | "S3_ACCESS_KEY_ID" | "S3_SECRET_ACCESS_KEY";

const port = z.coerce.number({ error: "must be a number from 0 to 65535" }).int().min(0).max(65_535);
const longSecret = z.string().min(32, `must have at least 32 characters; ${makeKey}`);

const serverVariables = z.object({
  ...storeVariables,
  HOST: z.string().default("127.0.0.1"),
  PORT: port.default(8701),
  TRUST_PROXY: z
    .string()
    .transform(parseTrustProxy)
    .refine((trusted) => trusted !== undefined, { error: trustProxyForm })
    .optional(),
  PUBLIC_URL: webAddress.optional(),
  DIRECT_LINK_URL: webAddress.optional(),
  MINIAPP_URL: webAddress.optional(),
  MINIAPP_DIR: z.string().default(join(import.meta.dirname, "../../miniapp/dist")),
  OPERATOR_TOKEN: longSecret.optional(),
  METRICS_PORT: port.optional(),
  METRICS_HOST: z.string().default("127.0.0.1"),
  METRICS_TOKEN: longSecret.optional(),
  API_REFERENCE: z.enum(["on", "off"], "must be on or off").optional(),
  DRAIN_SECONDS: z.coerce.number({ error: "must be a number of seconds, 300 at most" }).min(0).max(300).default(0),
  PUBLISHER_SHARE_PERCENT: z.coerce
    .number({ error: "must be a whole number from 0 to 100" })
    .int()
    .min(0)
    .max(100)
    .default(70),
  MOST_DAILY_CLICKS_PER_ADDRESS: z.coerce
    .number({ error: "must be a whole number from 1 to 100000" })
    .int("must be a whole number from 1 to 100000")
    .min(1)
    .max(100_000)
    .optional(),
  RATE_LIMIT_PER_TOKEN: z.coerce.number().min(1).max(1e9).default(50),
  RATE_LIMIT_PER_USER: z.coerce.number().min(1).max(1e9).default(10),
  DEMO_BOT_ID: telegramId.optional(),
  DEMO_TELEGRAM_PUBLIC_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be an Ed25519 public key as 64 hex digits")
    .optional(),
  DEMO_CHAT_ORIGIN: webAddress.optional(),
});

/** The names of the server's settings. */
export const settingNames = Object.keys(serverVariables.shape);

const commandVariables = z.object({
  ...storeVariables,
  ADS_URL: webAddress.optional(),
  OPERATOR_TOKEN: z.string().optional(),
  PUBLIC_URL: webAddress.default("http://127.0.0.1:8701"),
  MINIAPP_URL: webAddress.optional(),
  ENCRYPTION_KEY: storeVariables.ENCRYPTION_KEY.optional(),
});

export type Config = ReturnType<typeof readConfig>;

/** Reads the server's configuration from its environment. Throws a `StartFault` that names every fault. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const given = withoutEmpty(environment);
  const parsed = serverVariables.safeParse(given);
  const faults = [...faultsOf(parsed.error), ...crossFaults(given)];
  if (!parsed.success || faults.length > 0) throw configFault(faults);
  const read = parsed.data;
  const publicUrl = read.PUBLIC_URL ?? `http://${read.HOST.includes(":") ? `[${read.HOST}]` : read.HOST}:${read.PORT}`;
  return {
    ...storeOf(read),
    encryptionKey: read.ENCRYPTION_KEY,
    host: read.HOST,
    port: read.PORT,
    trustProxy: read.TRUST_PROXY,
    publicUrl,
    directLinkUrl: read.DIRECT_LINK_URL ?? publicUrl,
    miniappUrl: read.MINIAPP_URL ?? `${publicUrl}/app`,
    miniappDir: resolve(read.MINIAPP_DIR),
    operatorToken: read.OPERATOR_TOKEN,
    metrics: { port: read.METRICS_PORT, host: read.METRICS_HOST, token: read.METRICS_TOKEN },
    hasApiReference: (read.API_REFERENCE ?? (read.MODE === "demo" ? "on" : "off")) === "on",
    publisherSharePercent: read.PUBLISHER_SHARE_PERCENT,
    mostDailyClicksPerAddress: read.MOST_DAILY_CLICKS_PER_ADDRESS,
    drainMs: read.DRAIN_SECONDS * 1000,
    rateLimits: { perTokenPerSecond: read.RATE_LIMIT_PER_TOKEN, perUserPerMinute: read.RATE_LIMIT_PER_USER },
    demo: {
      botId: read.DEMO_BOT_ID,
      telegramPublicKey: read.DEMO_TELEGRAM_PUBLIC_KEY,
      chatOrigin: read.DEMO_CHAT_ORIGIN,
    },
  };
}

export type CommandConfig = ReturnType<typeof readCommandConfig>;

/** Reads the command line's configuration from its options and its environment. */
export function readCommandConfig(options: { url?: string | undefined }, environment: NodeJS.ProcessEnv = process.env) {
  const given = withoutEmpty(environment);
  const parsed = commandVariables.safeParse({ ...given, ...(options.url !== undefined && { ADS_URL: options.url }) });
  const faults = [...faultsOf(parsed.error), ...mediaFaults(given)];
  if (!parsed.success || faults.length > 0) throw configFault(faults);
  const read = parsed.data;
  return {
    ...storeOf(read),
    encryptionKey: read.ENCRYPTION_KEY,
    url: read.ADS_URL,
    operatorToken: read.OPERATOR_TOKEN,
    miniappUrl: read.MINIAPP_URL ?? `${read.PUBLIC_URL}/app`,
  };
}

function configFault(faults: readonly string[]): StartFault {
  return new StartFault(`The configuration has faults:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
}

function storeOf(
  read: z.infer<
    z.ZodObject<
      Pick<
        typeof storeVariables,
        | "MODE"
        | "DATABASE_URL"
        | "DATA_DIR"
        | "LOG_LEVEL"
        | "MEDIA_DIR"
        | "WEBHOOK_ALLOWED_NETWORKS"
        | "VAST_ALLOWED_NETWORKS"
        | "VIDEO_ALLOWED_NETWORKS"
        | "CURRENCY"
        | BucketVariable
      >
    >
  >,
) {
  const dataFolder = join(resolve(read.DATA_DIR), "ad-service");
  return {
    mode: read.MODE,
    databaseUrl: read.DATABASE_URL,
    dataFolder,
    logLevel: read.LOG_LEVEL,
    media: bucketOf(read) ?? {
      kind: "folder" as const,
      folder: read.MEDIA_DIR === undefined ? join(dataFolder, "media") : resolve(read.MEDIA_DIR),
      // Nodes share a folder that was named: a missing one is not mounted on this node.
      isMadeIfMissing: read.MEDIA_DIR === undefined,
    },
    webhookAllowedNetworks: read.WEBHOOK_ALLOWED_NETWORKS,
    vastAllowedNetworks: read.VAST_ALLOWED_NETWORKS,
    videoAllowedNetworks: read.VIDEO_ALLOWED_NETWORKS,
    currency: read.CURRENCY,
  };
}

/** All variables of the bucket, or none: a part of them is a fault. */
function bucketOf(read: Pick<z.infer<z.ZodObject<typeof storeVariables>>, BucketVariable>): MediaBucket | undefined {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region } = read;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = read;
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) return undefined;
  return { kind: "bucket", endpoint, bucket, region, accessKeyId, secretAccessKey };
}

function faultsOf(error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map((issue) => `${issue.path.join(".")} ${issue.message}`);
}

/** `NAME=` in an env file means that the variable is not set. */
function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
}
