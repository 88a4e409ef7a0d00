import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isPlainHttp } from "@intermission/ad-core/web-address";
import { telegramId } from "@intermission/ad-core/wire-fields";
import { currencyCode } from "@intermission/operator-api/standard-codes";
import { checkDatabaseUrl } from "@intermission/postgres/database-url";
import { mistypedSettingsIn } from "@intermission/server/mistyped-settings";
import {
  databaseLimitsOf,
  databaseLimitVariables,
  drainSeconds,
  embeddedBuffers,
  filePath,
  headerSecret,
  keyFaults,
  listenHost,
  logLevel,
  portNumber,
  previousEncryptionKey,
  readSettings,
  runMode,
  trustedProxies,
  webAddress,
  wholeNumberSetting,
} from "@intermission/server/settings";
import { StartFault } from "@intermission/server/start-fault";
import { tracingOf, tracingVariables } from "@intermission/server/tracing-settings";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import type { CountrySettings } from "./ad-selection/country-source.ts";
import type { MediaBucket } from "./creatives/bucket-storage.ts";
import { mailServer } from "./notices/mail-server.ts";
import type { OpenIdProviderSettings } from "./outbound/openid-providers.ts";
import { retentionOf, retentionVariables } from "./retention/retention-settings.ts";

/** The only reader of `process.env` in this server. */

const makeKey = "make one with: openssl rand -base64 32";

const address = webAddress("must be an address such as https://ads.example.com");

const listOf = (isOne: (text: string) => boolean, form: string) =>
  z
    .string()
    .transform((list) => list.split(",").map((one) => one.trim()))
    .refine((list) => list.every(isOne), { error: form });

const isNetwork = (text: string) => ipaddr.isValidCIDR(text) || ipaddr.isValid(text);

const storeVariables = {
  MODE: runMode,
  DATABASE_URL: z.string().check(checkDatabaseUrl).optional(),
  DATA_DIR: filePath.default("data"),
  EMBEDDED_BUFFERS_MB: embeddedBuffers,
  ...databaseLimitVariables,
  LOG_LEVEL: logLevel,
  MEDIA_DIR: filePath.optional(),
  S3_ENDPOINT: address.optional(),
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
  CURRENCY: currencyCode.optional(),
  COUNTRY_HEADER: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, "must be the name of a header, such as CF-IPCountry")
    .optional(),
  COUNTRY_DATABASE: filePath.optional(),
  ENCRYPTION_KEY: z
    .base64({
      error: ({ input }) =>
        input === undefined
          ? `is missing: it encrypts the bots' tokens; ${makeKey} (and keep it: without it the tokens are lost)`
          : `must be 32 bytes in base64; ${makeKey}`,
    })
    .transform((text) => Buffer.from(text, "base64"))
    .refine((key) => key.byteLength === 32, { error: `must be 32 bytes in base64; ${makeKey}` }),
  PREVIOUS_ENCRYPTION_KEY: previousEncryptionKey,
  ...retentionVariables,
};

const longSecret = headerSecret(32, makeKey);

const serverVariables = z.object({
  ...storeVariables,
  REPORTS_DATABASE_URL: z.string().check(checkDatabaseUrl).optional(),
  HOST: listenHost,
  PORT: portNumber.default(8701),
  TRUST_PROXY: trustedProxies.optional(),
  PUBLIC_URL: address.optional(),
  DIRECT_LINK_URL: address.optional(),
  MINIAPP_URL: address.optional(),
  MINIAPP_DIR: filePath.default(builtApp("miniapp")),
  CONSOLE_DIR: filePath.default(builtApp("console")),
  OPERATOR_TOKEN: longSecret.optional(),
  PAYMENT_WEBHOOK_SECRET: longSecret.optional(),
  TELEGRAM_LOGIN_CLIENT_ID: z
    .string()
    .regex(/^\d{3,20}$/, "must be the client id that @BotFather shows: the bot's id")
    .optional(),
  TELEGRAM_LOGIN_CLIENT_SECRET: z.string().optional(),
  OIDC_ISSUER: z
    .string()
    .refine(
      (text) => /^https?:\/\//.test(text) && URL.canParse(text) && !/[?#]/.test(text),
      "must be the issuer's address, exactly as the provider names it, such as https://id.example.com",
    )
    .optional(),
  OIDC_CLIENT_ID: z.string().max(255).optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_NAME: z.string().trim().min(1).max(40, "must have at most 40 characters").default("OpenID"),
  METRICS_PORT: portNumber.optional(),
  METRICS_HOST: listenHost,
  METRICS_TOKEN: longSecret.optional(),
  ...tracingVariables,
  API_REFERENCE: z.enum(["on", "off"], "must be on or off").optional(),
  TELEGRAM_TEST_SERVERS: z.enum(["on", "off"], "must be on or off").default("off"),
  DRAIN_SECONDS: drainSeconds,
  PUBLISHER_SHARE_PERCENT: wholeNumberSetting({ min: 0, max: 100 }).optional(),
  MAX_DAILY_CLICKS_PER_ADDRESS: wholeNumberSetting({ min: 1, max: 100_000 }).optional(),
  RATE_LIMIT_PER_TOKEN: wholeNumberSetting({ min: 1, max: 1_000_000_000 }).default(50),
  RATE_LIMIT_PER_USER: wholeNumberSetting({ min: 1, max: 1_000_000_000 }).default(10),
  SMTP_URL: mailServer.optional(),
  SMTP_FROM: z.email("must be an e-mail address such as ads@example.com").optional(),
  NOTICE_BOT_TOKEN: z
    .string()
    .regex(/^\d{3,20}:[\w-]{20,80}$/, "must be the token of a Telegram bot, as BotFather shows it")
    .optional(),
  TELEGRAM_API_URL: address.default("https://api.telegram.org"),
  DEMO_BOT_ID: telegramId.optional(),
  DEMO_TELEGRAM_PUBLIC_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be an Ed25519 public key as 64 hex digits")
    .optional(),
  DEMO_CHAT_ORIGIN: address.optional(),
});

/** As its discovery document names it. */
const TELEGRAM_ISSUER = "https://oauth.telegram.org";

/** Each may be read from a file that `NAME_FILE` names. */
const secrets = [
  "DATABASE_URL",
  "ENCRYPTION_KEY",
  "OPERATOR_TOKEN",
  "METRICS_TOKEN",
  "S3_ACCESS_KEY_ID",
  "S3_SECRET_ACCESS_KEY",
  "SMTP_URL",
  "NOTICE_BOT_TOKEN",
  "PAYMENT_WEBHOOK_SECRET",
  "PREVIOUS_ENCRYPTION_KEY",
  "TELEGRAM_LOGIN_CLIENT_SECRET",
  "OIDC_CLIENT_SECRET",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "REPORTS_DATABASE_URL",
];

/** The names of the server's settings. */
export const settingNames = Object.keys(serverVariables.shape);

/** Those of the command line, whose environment may be that of the server. */
const commandNames = [...settingNames, "ADS_URL"];

const commandVariables = z.object({
  ...storeVariables,
  ADS_URL: address.optional(),
  OPERATOR_TOKEN: headerSecret(1, "it is the one that the server was started with").optional(),
  PUBLIC_URL: address.default("http://127.0.0.1:8701"),
  MINIAPP_URL: address.optional(),
  ENCRYPTION_KEY: storeVariables.ENCRYPTION_KEY.optional(),
});

export type Config = ReturnType<typeof readConfig>;

/** Reads the server's configuration from its environment. Throws a `StartFault` that names every fault. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const read = readSettings(serverVariables, environment, { names: settingNames, secrets, crossFaults });
  const publicUrl = read.PUBLIC_URL ?? `http://${read.HOST.includes(":") ? `[${read.HOST}]` : read.HOST}:${read.PORT}`;
  return {
    ...storeOf(read),
    settings: settingsInForce(read, environment),
    /** What the environment sets and nothing reads, for the log. */
    mistypedSettings: mistypedSettingsIn(environment, { names: settingNames, secrets }),
    encryptionKey: read.ENCRYPTION_KEY,
    previousEncryptionKey: read.PREVIOUS_ENCRYPTION_KEY,
    /** Undefined: reports are read from the primary. */
    reportsDatabaseUrl: read.REPORTS_DATABASE_URL,
    host: read.HOST,
    port: read.PORT,
    trustProxy: read.TRUST_PROXY,
    publicUrl,
    directLinkUrl: read.DIRECT_LINK_URL ?? publicUrl,
    miniappUrl: read.MINIAPP_URL ?? `${publicUrl}/app`,
    miniappDir: resolve(read.MINIAPP_DIR),
    consoleDir: resolve(read.CONSOLE_DIR),
    operatorToken: read.OPERATOR_TOKEN,
    /** Undefined: no payment provider reports payments. */
    paymentWebhookSecret: read.PAYMENT_WEBHOOK_SECRET,
    openIdProviders: openIdProvidersOf(read),
    metrics: { port: read.METRICS_PORT, host: read.METRICS_HOST, token: read.METRICS_TOKEN },
    /** Undefined: nothing is traced. */
    tracing: tracingOf(read),
    hasApiReference: (read.API_REFERENCE ?? (read.MODE === "demo" ? "on" : "off")) === "on",
    telegramServers: read.TELEGRAM_TEST_SERVERS === "on" ? ("test" as const) : ("production" as const),
    /** Undefined: that of the store. */
    publisherSharePercent: read.PUBLISHER_SHARE_PERCENT,
    maxDailyClicksPerAddress: read.MAX_DAILY_CLICKS_PER_ADDRESS,
    drainMs: read.DRAIN_SECONDS * 1000,
    rateLimits: { perTokenPerSecond: read.RATE_LIMIT_PER_TOKEN, perUserPerMinute: read.RATE_LIMIT_PER_USER },
    notices: {
      smtpUrl: read.SMTP_URL,
      smtpFrom: read.SMTP_FROM,
      telegramBotToken: read.NOTICE_BOT_TOKEN,
      telegramApiUrl: read.TELEGRAM_API_URL,
    },
    demo: {
      botId: read.DEMO_BOT_ID,
      telegramPublicKey: read.DEMO_TELEGRAM_PUBLIC_KEY,
      chatOrigin: read.DEMO_CHAT_ORIGIN,
    },
  };
}

function openIdProvidersOf(read: z.infer<typeof serverVariables>): OpenIdProviderSettings[] {
  const { TELEGRAM_LOGIN_CLIENT_ID: telegramId, TELEGRAM_LOGIN_CLIENT_SECRET: telegramSecret } = read;
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: name } = read;
  return [
    ...(telegramId && telegramSecret
      ? [
          {
            providerId: "telegram" as const,
            name: "Telegram",
            issuer: TELEGRAM_ISSUER,
            clientId: telegramId,
            clientSecret: telegramSecret,
          },
        ]
      : []),
    ...(issuer && clientId && clientSecret
      ? [{ providerId: "openid" as const, name, issuer, clientId, clientSecret }]
      : []),
  ];
}

interface SettingInForce {
  name: string;
  isSet: boolean;
  /** As it is written in the environment; null: a secret, or none. */
  value: string | null;
  isSecret: boolean;
}

/** The server's settings for people, by name. Of a secret only whether it is set. */
function settingsInForce(read: Record<string, unknown>, environment: NodeJS.ProcessEnv): SettingInForce[] {
  return settingNames.toSorted().map((name) => {
    const isSecret = secrets.includes(name);
    const written = environment[name]?.trim() || undefined;
    const isSet = written !== undefined || (isSecret && Boolean(environment[`${name}_FILE`]?.trim()));
    const standard = read[name] === undefined ? null : String(read[name]);
    return { name, isSet, value: isSecret ? null : (written ?? standard), isSecret };
  });
}

export type CommandConfig = ReturnType<typeof readCommandConfig>;

/** Reads the command line's configuration from its options and its environment. */
export function readCommandConfig(options: { url?: string | undefined }, environment: NodeJS.ProcessEnv = process.env) {
  const effective = { ...environment, ...(options.url !== undefined && { ADS_URL: options.url }) };
  // An unset variable in a script gives an empty --url: without this check the command would change the local store.
  if (options.url?.trim() === "") throw new StartFault("--url is empty: write the server's address behind it");
  const read = readSettings(commandVariables, effective, { names: commandNames, secrets, crossFaults: commandFaults });
  return {
    ...storeOf(read),
    mistypedSettings: mistypedSettingsIn(environment, { names: commandNames, secrets }),
    encryptionKey: read.ENCRYPTION_KEY,
    previousEncryptionKey: read.PREVIOUS_ENCRYPTION_KEY,
    url: read.ADS_URL,
    operatorToken: read.OPERATOR_TOKEN,
    publicUrl: read.PUBLIC_URL,
    miniappUrl: read.MINIAPP_URL ?? `${read.PUBLIC_URL}/app`,
  };
}

/** What the server and the command line read alike. A command line needs no key while a server runs. */
type StoreSettings = Omit<z.infer<z.ZodObject<typeof storeVariables>>, "ENCRYPTION_KEY">;

function storeOf(read: StoreSettings) {
  const dataDirectory = resolve(read.DATA_DIR);
  const dataFolder = join(dataDirectory, "ad-service");
  return {
    mode: read.MODE,
    databaseUrl: read.DATABASE_URL,
    dataDirectory,
    dataFolder,
    buffersMegabytes: read.EMBEDDED_BUFFERS_MB,
    poolSize: read.DATABASE_POOL_SIZE,
    databaseLimits: databaseLimitsOf(read),
    retention: retentionOf(read),
    idleViewersDays: read.RETENTION_IDLE_VIEWERS_DAYS,
    logLevel: read.LOG_LEVEL,
    media: bucketOf(read) ?? {
      kind: "folder" as const,
      folder: read.MEDIA_DIR === undefined ? join(dataFolder, "media") : resolve(read.MEDIA_DIR),
      // Nodes share a folder that was named: a missing one is not mounted on this node.
      isMadeIfMissing: read.MEDIA_DIR === undefined,
    },
    requests: {
      isPlainHttpAllowed: read.MODE === "demo",
      allowedNetworks: {
        webhook: read.WEBHOOK_ALLOWED_NETWORKS,
        vast: read.VAST_ALLOWED_NETWORKS,
        video: read.VIDEO_ALLOWED_NETWORKS,
      },
    },
    /** Undefined: that of the store. */
    currency: read.CURRENCY,
    countries: countriesOf(read.COUNTRY_HEADER, read.COUNTRY_DATABASE),
  };
}

function countriesOf(header: string | undefined, file: string | undefined): CountrySettings {
  if (header !== undefined) return { kind: "header", header };
  return file === undefined ? { kind: "none" } : { kind: "file", file: resolve(file) };
}

/** All variables of the bucket, or none: a part of them is a fault. */
function bucketOf(read: StoreSettings): MediaBucket | undefined {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region } = read;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = read;
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) return undefined;
  return { kind: "bucket", endpoint, bucket, region, accessKeyId, secretAccessKey };
}

const demoVariables = ["DEMO_BOT_ID", "DEMO_TELEGRAM_PUBLIC_KEY", "DEMO_CHAT_ORIGIN"];
const loopbackHosts = ["localhost", "[::1]", "::1"];

/**
 * Faults of combinations of variables. Reads the raw text, so that they are reported together with the faults of each
 * variable.
 */
function crossFaults(environment: NodeJS.ProcessEnv): string[] {
  const ofMode = environment.MODE === "demo" ? demoFaults(environment) : productionFaults(environment);
  return [
    ...ofMode,
    ...metricsFaults(environment),
    ...commandFaults(environment),
    ...mailFaults(environment),
    ...countryFaults(environment),
    ...openIdFaults(environment),
    ...reportsFaults(environment),
  ];
}

function reportsFaults({ REPORTS_DATABASE_URL: replica, DATABASE_URL: primary }: NodeJS.ProcessEnv): string[] {
  if (replica === undefined || primary !== undefined) return [];
  return ["REPORTS_DATABASE_URL needs DATABASE_URL: it names a streaming replica of that server"];
}

function commandFaults(environment: NodeJS.ProcessEnv): string[] {
  return [...mediaFaults(environment), ...keyFaults(environment)];
}

function countryFaults(environment: NodeJS.ProcessEnv): string[] {
  const { COUNTRY_HEADER: header, COUNTRY_DATABASE: file, TRUST_PROXY: proxy } = environment;
  if (header === undefined) return [];
  if (file !== undefined)
    return [
      "COUNTRY_HEADER and COUNTRY_DATABASE are both set: unset one of them, since only one can be the source of countries",
    ];
  if (proxy === undefined || proxy === "false" || proxy === "0")
    return ["COUNTRY_HEADER needs TRUST_PROXY: without a trusted proxy, anyone could send the header"];
  return [];
}

/** Settings of a provider belong together. */
const openIdSettings = [
  ["TELEGRAM_LOGIN_CLIENT_ID", "TELEGRAM_LOGIN_CLIENT_SECRET"],
  ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"],
] as const;

function openIdFaults(environment: NodeJS.ProcessEnv): string[] {
  const faults = openIdSettings.flatMap((names) => {
    const missing = names.filter((name) => environment[name] === undefined);
    if (missing.length === names.length) return [];
    return missing.map((name) => `${name} is missing: signing in by this provider needs ${names.join(", ")}`);
  });
  const { OIDC_ISSUER: issuer, MODE: mode } = environment;
  if (issuer?.startsWith("http:") && !(mode === "demo" && isLoopbackAddress(issuer)))
    faults.push("OIDC_ISSUER must begin with https://: who can change its answers can sign in as anybody");
  return faults;
}

function mailFaults({ SMTP_URL: url, SMTP_FROM: from }: NodeJS.ProcessEnv): string[] {
  if ((url === undefined) === (from === undefined)) return [];
  return ["SMTP_URL and SMTP_FROM belong together: the mail server, and the address that notices are sent from"];
}

const bucketVariables = ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"];

/** Videos are kept in a folder or in a bucket; a bucket needs all of its variables. */
function mediaFaults(environment: NodeJS.ProcessEnv): string[] {
  const missing = bucketVariables.filter((name) => environment[name] === undefined);
  if (missing.length === bucketVariables.length) return [];
  if (missing.length > 0)
    return missing.map((name) => `${name} is missing: videos are kept in a bucket if all S3_ variables are set`);
  return environment.MEDIA_DIR === undefined
    ? []
    : ["MEDIA_DIR and S3_BUCKET are both set: videos are kept in one of them"];
}

function metricsFaults(environment: NodeJS.ProcessEnv): string[] {
  const { METRICS_PORT: port, METRICS_HOST: host = "127.0.0.1", METRICS_TOKEN: token } = environment;
  const faults: string[] = [];
  if (port !== undefined && token === undefined && !isLoopback(host)) {
    faults.push(`METRICS_TOKEN is missing: ${host} can be reached from other machines, and metrics are not public`);
  }
  if (port !== undefined && port !== "0" && port === (environment.PORT ?? "8701")) {
    faults.push("METRICS_PORT is the same as PORT: with METRICS_TOKEN, PORT serves the metrics without it");
  }
  return faults;
}

function productionFaults(environment: NodeJS.ProcessEnv): string[] {
  const faults = demoVariables
    .filter((name) => environment[name] !== undefined)
    .map((name) => `${name} is for MODE=demo only: anyone with the demo's key can sign in as any user`);
  if (environment.PUBLIC_URL === undefined) {
    faults.push(
      "PUBLIC_URL is missing: the https address at which users reach this server, such as https://ads.example.com",
    );
  }
  for (const name of ["PUBLIC_URL", "DIRECT_LINK_URL", "MINIAPP_URL"]) {
    const address = environment[name];
    if (address && isPlainHttp(address) && !isLoopbackAddress(address)) {
      faults.push(`${name} must begin with https:// in production: Telegram opens only https addresses`);
    }
  }
  return faults;
}

function demoFaults(environment: NodeJS.ProcessEnv): string[] {
  const { HOST: host = "127.0.0.1", PUBLIC_URL: publicUrl } = environment;
  const faults: string[] = [];
  if (!isLoopback(host)) faults.push(`HOST must be a loopback address in demo mode, and ${host} is not`);
  if (publicUrl !== undefined && !isLoopbackAddress(publicUrl)) {
    faults.push(
      "PUBLIC_URL must be a loopback address in demo mode: demo users are made up, and anyone can sign in as one",
    );
  }
  if ((environment.DEMO_BOT_ID === undefined) !== (environment.DEMO_TELEGRAM_PUBLIC_KEY === undefined)) {
    faults.push(
      "DEMO_BOT_ID and DEMO_TELEGRAM_PUBLIC_KEY belong together: the demo's key is valid for the demo's bot only",
    );
  }
  return faults;
}

/** The bundle's copy, which is beside it, or the build of this repository. */
function builtApp(name: "miniapp" | "console"): string {
  const copy = join(import.meta.dirname, name);
  return existsSync(copy) ? copy : join(import.meta.dirname, `../../${name}/dist`);
}

function isLoopbackAddress(address: string): boolean {
  return URL.canParse(address) && isLoopback(new URL(address).hostname);
}

function isLoopback(host: string): boolean {
  return loopbackHosts.includes(host) || /^127(\.\d{1,3}){3}$/.test(host);
}
