import { isIP } from "node:net";
import { canonicalAddress, hasUserInfo } from "@intermission/ad-core/web-address";
import { checkDatabaseUrl } from "@intermission/postgres/database-url";
import { z } from "zod";
import { parseTrustProxy, trustProxyForm } from "./client-address.ts";
import type { LoggedUserIds } from "./logged-users.ts";
import { mistypedSettingsIn } from "./mistyped-settings.ts";
import { readSecretFiles } from "./secret-files.ts";
import { StartFault } from "./start-fault.ts";
import { unreadEnvFiles } from "./unread-env-files.ts";
import { readWholeNumber, type WholeNumberBounds } from "./whole-number.ts";

/**
 * The meaning of each setting stands at its schema, from which docs/settings.md is generated: `whenUnset` is its default where the
 * schema has none, `unit` its unit where the name does not end with it.
 */
declare module "zod" {
  interface GlobalMeta {
    whenUnset?: string;
    unit?: string;
  }
}

/** MODE. */
export const runMode = z
  .enum(["demo", "production"], "must be production or demo")
  .default("production")
  .describe("`demo` allows plain http and the demo's built-in keys, on loopback addresses only");

/** Where a server listens: HOST and METRICS_HOST. */
export const listenHost = z
  .string()
  .refine((text) => isIP(text) !== 0 || /^\w([\w.-]*\w)?$/.test(text), {
    error: "must be an address of this machine without scheme, port and brackets, such as 127.0.0.1, 0.0.0.0 or ::1",
  })
  .default("127.0.0.1");

const METRICS_SECRET = "make one with: openssl rand -base64 32";

/** DATABASE_URL. */
export const databaseUrl = z.string().check(checkDatabaseUrl).optional().meta({
  whenUnset: "the [embedded store](promises.md#the-embedded-store)",
  description:
    "`postgres://user:password@host:5432/database` of a PostgreSQL server, version 15 or newer, encoding UTF8. Percent-encode special characters (`@` is `%40`). A pooler must keep sessions (PgBouncer: `pool_mode = session`). Over a network, add `?sslmode=verify-full`, and `&sslrootcert=/path/to/ca.pem` for an authority of your own",
});

/** A file or a folder. An env file or a unit of systemd names it without a shell. */
export const filePath = z
  .string()
  .refine((text) => !/^(~|\$)/.test(text), "begins with what only a shell replaces: write the path in full");

/** What callers send in a header. */
export function headerSecret(minLength: number, howToMakeOne: string) {
  return z
    .string()
    .min(minLength, `must have at least ${minLength} characters; ${howToMakeOne}`)
    .regex(/^[\x21-\x7e]*$/, `must be one line of ASCII without blanks, since a header carries it; ${howToMakeOne}`);
}

/**
 * An http(s) address to which paths are added: without a user name or password, query and fragment, in canonical form,
 * without a final slash.
 */
export function webAddress(error: z.core.$ZodURLParams["error"]) {
  return z
    .url({ protocol: /^https?$/, error })
    .refine((url) => !hasUserInfo(url), "must not hold a user name or password")
    .refine((url) => !/[?#]/.test(url), "must have no ? and no #: paths are added to it")
    .transform(canonicalAddress);
}

/** A required `webAddress`; a missing one is explained by what it is. */
export function requiredAddress(whatItIs: string) {
  return webAddress(({ input }) =>
    input === undefined ? `is missing; it is ${whatItIs}` : `must be an http(s) address; it is ${whatItIs}`,
  );
}

/** A whole number in digits: `0x10` and `1e3`, which `Number` reads, are refused. */
export function wholeNumberSetting(bounds: WholeNumberBounds) {
  return z.string().transform((text, { issues }) => {
    const read = readWholeNumber(text, bounds);
    if (read.outcome === "number") return read.value;
    issues.push({ code: "custom", input: text, message: read.message });
    return z.NEVER;
  });
}

/** The key of before a rotation. */
export const previousEncryptionKey = z
  .base64({ error: "must be the key that ENCRYPTION_KEY was before: 32 bytes in base64" })
  .transform((text) => Buffer.from(text, "base64"))
  .refine((key) => key.byteLength === 32, {
    error: "must be the key that ENCRYPTION_KEY was before: 32 bytes in base64",
  })
  .optional()
  .describe("the key that `ENCRYPTION_KEY` replaces, [while it is rotated](operate.md#rotate-encryption_key)");

/** Faults of the two keys together. */
export function keyFaults({ ENCRYPTION_KEY: key, PREVIOUS_ENCRYPTION_KEY: previous }: NodeJS.ProcessEnv): string[] {
  if (previous === undefined) return [];
  if (key === undefined) return ["PREVIOUS_ENCRYPTION_KEY is set without ENCRYPTION_KEY, the key that replaces it"];
  return key === previous ? ["PREVIOUS_ENCRYPTION_KEY is the same as ENCRYPTION_KEY, which must be the new key"] : [];
}

/** PORT and METRICS_PORT. */
export const portNumber = wholeNumberSetting({ min: 0, max: 65_535 });

/** What both servers read alike and their command lines do not need. */
export const listenVariables = {
  HOST: listenHost.describe("the address of this machine to listen on"),
  METRICS_PORT: portNumber
    .optional()
    .describe("a separate port for `/metrics` (Prometheus); beyond loopback it requires `METRICS_TOKEN`"),
  METRICS_HOST: listenHost.describe("the address of `METRICS_PORT`"),
  METRICS_TOKEN: headerSecret(32, METRICS_SECRET)
    .optional()
    .describe(
      "if set, `PORT` serves `/metrics` too, and both require `Authorization: Bearer …`; 32 characters or more",
    ),
  API_REFERENCE: z.enum(["on", "off"], "must be on or off").optional().meta({
    whenUnset: "`on` in demo mode, else `off`",
    description: "whether `/docs` shows the server's APIs",
  }),
};

/** DATA_DIR. */
export const storeDirectory = filePath
  .default("data")
  .describe("the embedded store, which the servers share, and a folder for each server");

const MAX_DRAIN_SECONDS = 300;
const drainForm = `must be a number of seconds from 0 to ${MAX_DRAIN_SECONDS}, such as 5 or 0.5`;

/** DRAIN_SECONDS. */
export const drainSeconds = z
  .string()
  .regex(/^\d{1,3}(\.\d{1,3})?$/, drainForm)
  .transform(Number)
  .refine((seconds) => seconds <= MAX_DRAIN_SECONDS, drainForm)
  .default(0)
  .describe("how long requests are still served after SIGTERM, while `/readyz` answers 503; at most 300");

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof levels)[number];

/** LOG_LEVEL. */
export const logLevel = z
  .enum(levels, `must be one of ${levels.join(", ")}`)
  .default("info")
  .describe("`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`; JSON lines on standard output");

/** LOG_USER_IDS. */
export const logUserIds = z
  .enum(["hashed", "plain"] satisfies LoggedUserIds[], "must be hashed or plain: how the log names users")
  .default("hashed")
  .describe(
    "`hashed` or `plain`: users' ids in the log are [short hashes](operate.md#what-the-logs-say), or as they are",
  );

/** EMBEDDED_BUFFERS_MB. */
export const embeddedBuffers = wholeNumberSetting({ min: 8, max: 65_536 })
  .default(64)
  .describe("`shared_buffers` of the embedded store; the server that starts it decides");

/** What the documentation shows in place of a bot's token, here and at Telegram. */
const PLACEHOLDER_TOKEN =
  /:(?:.*[-_])?(?:your|botfather|placeholder|example|paste|insert|replace|change-?me)(?:[-_].*)?$|:the-token|x{8}|^123456:ABC-DEF|^110201543:AAH|^4839574812:AAF/i;

/** TELEGRAM_BOT_TOKEN. */
export const telegramBotToken = z
  .string()
  .regex(/^[0-9]+:[\w-]{20,100}$/, "looks like 123456789:AA… ; @BotFather shows it")
  .refine((token) => !PLACEHOLDER_TOKEN.test(token), {
    error:
      "is the placeholder of a documentation, so that no user could sign in: set the token that @BotFather shows for this bot",
  });

/** The limits of a database server, and of one that does not answer. */
export const databaseLimitVariables = {
  /** The listening connection is one more. */
  DATABASE_POOL_SIZE: wholeNumberSetting({ min: 2, max: 1000 })
    .default(10)
    .describe("connections of a node for its requests; one more listens"),
  DATABASE_CONNECT_TIMEOUT_SECONDS: wholeNumberSetting({ min: 1, max: 120 })
    .default(10)
    .describe("how long a request waits for a connection"),
  DATABASE_SILENT_SECONDS: wholeNumberSetting({ min: 1, max: 60 })
    .default(2)
    .describe(
      "after this time without any answer from the database, `/readyz` and every request are answered 503 at once, until it answers again",
    ),
  DATABASE_STATEMENT_TIMEOUT_SECONDS: wholeNumberSetting({ min: 1, max: 3600 })
    .default(30)
    .describe("a statement that takes longer is cancelled, and its request is answered 503"),
};

export function databaseLimitsOf(read: z.output<z.ZodObject<typeof databaseLimitVariables>>) {
  return {
    connectMs: read.DATABASE_CONNECT_TIMEOUT_SECONDS * 1000,
    silentMs: read.DATABASE_SILENT_SECONDS * 1000,
    statementMs: read.DATABASE_STATEMENT_TIMEOUT_SECONDS * 1000,
  };
}

/** TRUST_PROXY. */
export const trustedProxies = z
  .string()
  .transform(parseTrustProxy)
  .refine((trusted) => trusted !== undefined, { error: trustProxyForm })
  .optional()
  .describe(
    "the number of proxies in front, such as `1`; or their addresses or networks, separated by commas (also `loopback`, `linklocal`, `uniquelocal`). `true` trusts every `X-Forwarded-For`: only where the server is reached through the proxies alone. `false`: there is no proxy",
  );

/**
 * Reads settings from environment variables, the secrets among them also from the files that `NAME_FILE` names. Throws a
 * `StartFault` that names every fault.
 */
export function readSettings<Schema extends z.ZodType>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
  { names = [], secrets = [], crossFaults = () => [] }: SettingsOptions = {},
): z.output<Schema> {
  const set = withoutBlanks(environment);
  const source = readSecretFiles(set, secrets);
  for (const [name, fault] of quotesIn(source.environment, names)) source.faults.set(name, fault);
  const parsed = schema.safeParse(source.environment);
  // A secret whose file is faulty is not missing as well.
  const others = [...faultsOf(parsed.error), ...crossFaults(source.environment)].filter(
    (fault) => !source.faults.has(fault.slice(0, fault.indexOf(" "))),
  );
  const faults = [...source.faults.values(), ...others];
  // What is missing may be there under another name.
  if (!parsed.success || faults.length > 0)
    throw settingsFault([
      ...faults,
      ...mistypedSettingsIn(environment, { names, secrets }),
      ...unreadEnvFiles(missingOf(faults, set), environment),
    ]);
  return parsed.data;
}

interface SettingsOptions {
  /** The names of all settings, to which a mistyped one is near. */
  readonly names?: readonly string[];
  /** The names of the settings that `NAME_FILE` may replace. */
  readonly secrets?: readonly string[];
  /** Faults of combinations of variables, each beginning with the name of one. */
  readonly crossFaults?: (environment: NodeJS.ProcessEnv) => string[];
}

/** The variables of faults that are not set. */
function missingOf(faults: readonly string[], set: NodeJS.ProcessEnv): string[] {
  const names = faults.map((fault) => fault.slice(0, fault.indexOf(" ")));
  return names.filter((name) => /^[A-Z][A-Z0-9_]+$/.test(name) && set[name] === undefined);
}

/** A line for each fault, which begins with the variable's name. */
function settingsFault(faults: readonly string[]): StartFault {
  return new StartFault(`The configuration has faults:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
}

function faultsOf(error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map((issue) => `${issue.path.join(".")} ${issue.message}`);
}

/**
 * Blanks and line breaks around a value are none of it, as in a file that `echo` or another system wrote. `NAME=` in an env
 * file means that the variable is not set.
 */
function withoutBlanks(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const trimmed = Object.entries(environment).map(([name, value]) => [name, value?.trim()]);
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ""));
}

/** Docker's env files keep the quotes that a shell removes. */
function quotesIn(environment: NodeJS.ProcessEnv, names: readonly string[]): [name: string, fault: string][] {
  return names
    .filter((name) => /^(["'`]).*\1$/s.test(environment[name] ?? ""))
    .map((name) => [name, `${name} is in quotes, which are a part of the value here: remove them`]);
}
