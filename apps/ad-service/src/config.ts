import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { StandardWebhookKey } from "@intermission/ad-core/signature";
import { isPlainHttp } from "@intermission/ad-core/web-address";
import { telegramId } from "@intermission/ad-core/wire-fields";
import { type OpenIdProviderId, openIdProviderIds } from "@intermission/operator-api/sign-in-methods";
import { currencyCode } from "@intermission/operator-api/standard-codes";
import { checkDatabaseUrl } from "@intermission/postgres/database-url";
import { mistypedSettingsIn } from "@intermission/server/mistyped-settings";
import {
  databaseLimitsOf,
  databaseLimitVariables,
  databaseUrl,
  drainSeconds,
  embeddedBuffers,
  filePath,
  headerSecret,
  keyFaults,
  listenHost,
  listenVariables,
  logLevel,
  logUserIds,
  portNumber,
  previousEncryptionKey,
  readSettings,
  runMode,
  storeDirectory,
  trustedProxies,
  webAddress,
  wholeNumberSetting,
} from "@intermission/server/settings";
import { StartFault } from "@intermission/server/start-fault";
import { tracingOf, tracingVariables } from "@intermission/server/tracing-settings";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import type { MediaBucket } from "./creatives/bucket-storage.ts";
import { mailServer } from "./notices/mail-server.ts";
import type { GuardedRequestSettings } from "./outbound/guarded-request.ts";
import type { OpenIdProviderSettings } from "./people/sign-in-methods/openid-providers.ts";
import { retentionOf, retentionVariables } from "./retention/retention-settings.ts";
import type { CountrySettings } from "./viewers/country-source.ts";

/** The only reader of `process.env` in this server. */

const makeKey = "make one with: openssl rand -base64 32";

const address = webAddress("must be an address such as https://rewards.example.com");

const listOf = (isOne: (text: string) => boolean, form: string) =>
  z
    .string()
    .transform((list) => list.split(",").map((one) => one.trim()))
    .refine((list) => list.every(isOne), { error: form });

const isNetwork = (text: string) => ipaddr.isValidCIDR(text) || ipaddr.isValid(text);

const allowedNetworks = (whatMayReachThem: string) =>
  listOf(isNetwork, "must be networks such as 10.0.0.0/8,fd00::/8")
    .default([])
    .describe(`private networks, separated by commas, that ${whatMayReachThem} may reach`);

const storeVariables = {
  MODE: runMode,
  DATABASE_URL: databaseUrl,
  DATA_DIR: storeDirectory,
  EMBEDDED_BUFFERS_MB: embeddedBuffers,
  ...databaseLimitVariables,
  LOG_LEVEL: logLevel,
  LOG_USER_IDS: logUserIds,
  BACKUP_DIR: filePath
    .optional()
    .describe(
      "a folder, best on another disk, in which the server makes [backups of the embedded store](operate.md#a-data-folder)",
    ),
  BACKUP_EVERY_HOURS: wholeNumberSetting({ min: 1, max: 168 })
    .default(24)
    .meta({ unit: "hours", description: "hours between two backups in `BACKUP_DIR`: what can be lost with the disk" }),
  BACKUP_KEEP: wholeNumberSetting({ min: 1, max: 1000 }).default(7).describe("how many backups stay in `BACKUP_DIR`"),
  MEDIA_DIR: filePath.optional().meta({
    whenUnset: "inside `DATA_DIR`",
    description: "the folder of uploaded videos, which nodes share. If set, it must exist",
  }),
  S3_ENDPOINT: address
    .optional()
    .describe(
      "the address of any S3-compatible service, whose bucket replaces `MEDIA_DIR`; all `S3_` settings belong together",
    ),
  S3_REGION: z.string().default("us-east-1").describe("the region of the bucket"),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket")
    .optional()
    .describe("the name of the bucket, which may be private"),
  S3_ACCESS_KEY_ID: z.string().optional().describe("the id of a key that reads and writes the bucket"),
  S3_SECRET_ACCESS_KEY: z.string().optional().describe("the secret of that key"),
  WEBHOOK_ALLOWED_NETWORKS: allowedNetworks("webhooks"),
  VAST_ALLOWED_NETWORKS: allowedNetworks("VAST tags and their trackers"),
  BUYER_ALLOWED_NETWORKS: allowedNetworks("bid requests"),
  VIDEO_ALLOWED_NETWORKS: allowedNetworks("videos that are added by address"),
  CURRENCY: currencyCode.optional().meta({
    whenUnset: "that of the store, at first `USD`",
    description:
      "the ISO 4217 code of all prices, budgets and amounts. The store keeps it: another one is refused once there are amounts",
  }),
  COUNTRY_HEADER: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, "must be the name of a header, such as CF-IPCountry")
    .optional()
    .describe(
      "instead of `COUNTRY_DATABASE`, a header with the country, such as `CF-IPCountry`; the proxy must overwrite what a visitor sends",
    ),
  COUNTRY_DATABASE: filePath
    .optional()
    .describe(
      "a file of countries in MaxMind's format (`.mmdb`), for reports and for campaigns' `--countries`; read again when it is replaced",
    ),
  ENCRYPTION_KEY: z
    .base64({
      error: ({ input }) =>
        input === undefined
          ? `is missing: it encrypts the bots' tokens; ${makeKey} (and keep it: without it the tokens are lost)`
          : `must be 32 bytes in base64; ${makeKey}`,
    })
    .transform((text) => Buffer.from(text, "base64"))
    .refine((key) => key.byteLength === 32, { error: `must be 32 bytes in base64; ${makeKey}` })
    .describe(
      "32 bytes in base64 that encrypt the bots' stored tokens (`openssl rand -base64 32`). Keep a copy: without it the tokens are lost",
    ),
  PREVIOUS_ENCRYPTION_KEY: previousEncryptionKey,
  ...retentionVariables,
};

const longSecret = headerSecret(32, makeKey);

const WEBHOOK_SECRET = "whsec_";

/** Standard Webhooks 1.0: behind `whsec_` stand 24 to 64 bytes in base64, which are the key. Another secret is the key as text. */
const webhookSecret = z.string().transform((secret, context): StandardWebhookKey => {
  const fault = (message: string) => context.addIssue({ code: "custom", message });
  if (!secret.startsWith(WEBHOOK_SECRET)) {
    for (const { message } of longSecret.safeParse(secret).error?.issues ?? []) fault(message);
    return secret;
  }
  const encoded = secret.slice(WEBHOOK_SECRET.length).replace(/={1,2}$/, "");
  const key = Buffer.from(encoded, "base64");
  const isWhole = key.toString("base64").replace(/=+$/, "") === encoded;
  if (!isWhole || key.length < 24 || key.length > 64)
    fault(`must have 24 to 64 bytes in base64 behind ${WEBHOOK_SECRET}: copy it whole from the payment provider`);
  return key;
});

const serverVariables = z.object({
  ...storeVariables,
  ...listenVariables,
  REPORTS_DATABASE_URL: z.string().check(checkDatabaseUrl).optional().meta({
    whenUnset: "`DATABASE_URL`",
    description:
      "a streaming replica of the server of `DATABASE_URL`, from which [reports are read](operate.md#reports-from-a-replica)",
  }),
  PORT: portNumber.default(8701).describe("the port to listen on"),
  TRUST_PROXY: trustedProxies,
  PUBLIC_URL: address
    .optional()
    .describe("the https address at which users reach this server; in demo mode the address that it listens on"),
  DIRECT_LINK_URL: address.optional().meta({
    whenUnset: "`PUBLIC_URL`",
    description:
      "the address before a direct link's code, as people see it; the tap page's form may be posted from its origin",
  }),
  MINIAPP_URL: address.optional().meta({
    whenUnset: "`PUBLIC_URL` + `/app`",
    description: "where mini-apps are served, without the bot's id",
  }),
  MINIAPP_DIR: filePath.default(builtApp("miniapp")).meta({
    whenUnset: "the built mini-app",
    description: "the files that are served there",
  }),
  CONSOLE_DIR: filePath.default(builtApp("console")).meta({
    whenUnset: "the built console",
    description: "the files that are served below `PUBLIC_URL` + `/console`",
  }),
  OPERATOR_TOKEN: longSecret.optional().describe("allows `pnpm ads --url …` over the network, at least 32 characters"),
  PAYMENT_WEBHOOK_SECRET: webhookSecret
    .optional()
    .describe("a payment provider may [report payments](money.md) of advertisers, signed with it"),
  TELEGRAM_LOGIN_CLIENT_ID: z
    .string()
    .regex(/^\d{3,20}$/, "must be the client id that @BotFather shows: the bot's id")
    .optional()
    .describe(
      "people may [sign in to the console with Telegram](console.md#sign-in-with-telegram): the client id that @BotFather shows",
    ),
  TELEGRAM_LOGIN_CLIENT_SECRET: z.string().optional().describe("the secret that @BotFather shows beside it"),
  OIDC_ISSUER: z
    .string()
    .refine(
      (text) => /^https?:\/\//.test(text) && URL.canParse(text) && !/[?#]/.test(text),
      "must be the issuer's address, exactly as the provider names it, such as https://id.example.com",
    )
    .optional()
    .describe("the same for one other OpenID Connect provider: its issuer"),
  OIDC_CLIENT_ID: z.string().max(255).optional().describe("the client id at that provider"),
  OIDC_CLIENT_SECRET: z.string().optional().describe("the secret of that client"),
  OIDC_NAME: z
    .string()
    .trim()
    .min(1)
    .max(40, "must have at most 40 characters")
    .default("OpenID")
    .describe("the name on that provider's button"),
  ...tracingVariables,
  TELEGRAM_TEST_SERVERS: z
    .enum(["on", "off"], "must be on or off")
    .default("off")
    .describe(
      "`on` accepts mini-apps that Telegram's [test servers](https://core.telegram.org/bots/webapps#using-bots-in-the-test-environment) launch, and no others",
    ),
  DRAIN_SECONDS: drainSeconds,
  PUBLISHER_SHARE_PERCENT: wholeNumberSetting({ min: 0, max: 100 }).optional().meta({
    whenUnset: "that of the store, at first 70",
    description: "the publisher's share of each charge; a change applies to later charges, on all nodes, and is logged",
  }),
  MAX_DAILY_CLICKS_PER_ADDRESS: wholeNumberSetting({ min: 1, max: 100_000 })
    .optional()
    .describe(
      "counted clicks of one address in a UTC day; later visitors earn nothing. Hundreds of people may share an address of a mobile network",
    ),
  RATE_LIMIT_PER_TOKEN: wholeNumberSetting({ min: 1, max: 1_000_000_000 })
    .default(50)
    .meta({ unit: "a second", description: "requests of one API token to one node" }),
  RATE_LIMIT_PER_USER: wholeNumberSetting({ min: 1, max: 1_000_000_000 })
    .default(10)
    .meta({ unit: "a minute", description: "requests for one user to one node" }),
  SMTP_URL: mailServer
    .optional()
    .describe(
      "the mail server for invitations and for what [people are told](console.md#what-people-are-told), as `smtp://user:password@host:587` or `smtps://…`",
    ),
  SMTP_FROM: z
    .email("must be an e-mail address such as ads@example.com")
    .optional()
    .describe("the address that these mails are sent from"),
  NOTICE_BOT_TOKEN: z
    .string()
    .regex(/^\d{3,20}:[\w-]{20,80}$/, "must be the token of a Telegram bot, as BotFather shows it")
    .optional()
    .describe("the token of the Telegram bot that sends notices"),
  TELEGRAM_API_URL: address.default("https://api.telegram.org").describe("the address of the Bot API"),
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
export const secrets = [
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

/** The server's settings with their meaning, by name. */
export const settings = serverVariables.shape;
export const settingNames = Object.keys(settings);

/** Those of the command line, whose environment may be that of the server. */
const commandNames = [...settingNames, "ADS_URL"];

const commandVariables = z.object({
  ...storeVariables,
  TELEGRAM_API_URL: settings.TELEGRAM_API_URL,
  ADS_URL: address.optional(),
  OPERATOR_TOKEN: headerSecret(1, "it is the one that the server was started with").optional(),
  // The server's, for links where its PUBLIC_URL is not set.
  HOST: listenHost,
  PORT: portNumber.default(8701),
  PUBLIC_URL: address.optional(),
  MINIAPP_URL: address.optional(),
  ENCRYPTION_KEY: storeVariables.ENCRYPTION_KEY.optional(),
});

export type Config = ReturnType<typeof readConfig>;

/** Reads the server's configuration from its environment. Throws a `StartFault` that names every fault. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const read = readSettings(serverVariables, environment, { names: settingNames, secrets, crossFaults });
  const publicUrl = publicUrlOf(read);
  return {
    ...storeOf(read),
    logUserIds: read.LOG_USER_IDS,
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
  const ofProviders: Record<OpenIdProviderId, Omit<OpenIdProviderSettings, "providerId"> | undefined> = {
    telegram:
      telegramId && telegramSecret
        ? { name: "Telegram", issuer: TELEGRAM_ISSUER, clientId: telegramId, clientSecret: telegramSecret }
        : undefined,
    openid: issuer && clientId && clientSecret ? { name, issuer, clientId, clientSecret } : undefined,
  };
  return openIdProviderIds.flatMap((providerId) => {
    const settings = ofProviders[providerId];
    return settings === undefined ? [] : [{ providerId, ...settings }];
  });
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
    logIdSecrets: [read.ENCRYPTION_KEY, read.PREVIOUS_ENCRYPTION_KEY],
    url: read.ADS_URL,
    operatorToken: read.OPERATOR_TOKEN,
    publicUrl: publicUrlOf(read),
    telegramApiUrl: read.TELEGRAM_API_URL,
    miniappUrl: read.MINIAPP_URL ?? `${publicUrlOf(read)}/app`,
  };
}

/** For a command line that this server starts: it works on this machine's store, also where ADS_URL is set. */
export function environmentOfCommand(): NodeJS.ProcessEnv {
  const { ADS_URL: _ofPeople, ...environment } = process.env;
  return environment;
}

function publicUrlOf(read: { PUBLIC_URL?: string | undefined; HOST: string; PORT: number }): string {
  return read.PUBLIC_URL ?? `http://${read.HOST.includes(":") ? `[${read.HOST}]` : read.HOST}:${read.PORT}`;
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
    /** Without a folder, the server makes no backups. */
    backups: {
      folder: read.BACKUP_DIR === undefined ? undefined : resolve(read.BACKUP_DIR),
      everyHours: read.BACKUP_EVERY_HOURS,
      keep: read.BACKUP_KEEP,
    },
    media: bucketOf(read) ?? {
      kind: "folder" as const,
      folder: read.MEDIA_DIR === undefined ? join(dataFolder, "media") : resolve(read.MEDIA_DIR),
      // Nodes share a folder that was named: a missing one is not mounted on this node.
      isMadeIfMissing: read.MEDIA_DIR === undefined,
    },
    requests: requestSettings(read),
    /** Undefined: that of the store. */
    currency: read.CURRENCY,
    countries: countriesOf(read.COUNTRY_HEADER, read.COUNTRY_DATABASE),
  };
}

function requestSettings(
  read: Pick<StoreSettings, "MODE" | `${"WEBHOOK" | "VAST" | "VIDEO" | "BUYER"}_ALLOWED_NETWORKS`>,
): GuardedRequestSettings {
  return {
    isPlainHttpAllowed: read.MODE === "demo",
    allowedNetworks: {
      webhook: read.WEBHOOK_ALLOWED_NETWORKS,
      vast: read.VAST_ALLOWED_NETWORKS,
      video: read.VIDEO_ALLOWED_NETWORKS,
      buyer: read.BUYER_ALLOWED_NETWORKS,
    },
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
  return [...mediaFaults(environment), ...keyFaults(environment), ...backupFaults(environment)];
}

function backupFaults({ BACKUP_DIR: folder, DATABASE_URL: server }: NodeJS.ProcessEnv): string[] {
  if (folder === undefined || server === undefined) return [];
  return [
    "BACKUP_DIR is for the embedded database, but DATABASE_URL names a server: unset it, and back up that server by pg_dump or pgBackRest",
  ];
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
      "PUBLIC_URL is missing: the https address at which users reach this server, such as https://rewards.example.com",
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
