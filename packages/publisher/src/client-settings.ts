/** What a caller names a setting, and where its value usually comes from. */
interface Named {
  readonly option: string;
  readonly variable: string;
}

type AddressFault = "missing" | "quoted" | "no-scheme" | "other-scheme" | "unreadable" | "credentials" | "query";
type SecretFault = "missing" | "quoted" | "placeholder" | "bearer" | "bot-token" | "characters";
type BotIdFault = "missing" | "bot-token" | "username" | "not-digits";

const isQuoted = (text: string) => /^["'`“”‘’]|["'`“”‘’]$/.test(text);
const isBotToken = (text: string) => /^[0-9]+:/.test(text);
const isLocal = (text: string) => /^(localhost|127\.|\[|0\.0\.0\.0)/.test(text);

/**
 * The base of a server's address without a slash at its end, and without `path`, with or behind which it is often copied.
 * Throws an error that names option and variable if it is not the address of a server.
 */
export function serverAddress(
  value: unknown,
  { option, variable, server, path }: Named & { readonly server: string; readonly path: string },
): string {
  const text = textOf(value);
  const fault = addressFault(text);
  const where = `${option} (${variable})`;
  const example = `${server}'s address, such as https://rewards.example.com`;
  const messages = {
    missing: `${where} is missing: set it to ${example}`,
    quoted: `${where} is in quotes: remove the quotes`,
    "no-scheme": `${where} has no scheme: write ${isLocal(text) ? "http" : "https"}://${text} instead of ${text}`,
    "other-scheme": `${where} must begin with https:// or http://, and begins with ${text.split(":", 1)[0]}: write ${example}`,
    unreadable: `${where} is not an address: write ${example}`,
    credentials: `${where} contains a user name or a password, which fetch refuses: remove everything before the @`,
    query: `${where} contains ? or #: write only ${example}`,
  } satisfies Record<AddressFault, string>;
  if (fault !== undefined) throw new TypeError(messages[fault]);
  const { origin, pathname } = new URL(text);
  const at = `${pathname}/`.indexOf(`${path}/`);
  return (origin + (at === -1 ? pathname : pathname.slice(0, at))).replace(/\/+$/, "");
}

function addressFault(text: string): AddressFault | undefined {
  if (text === "") return "missing";
  if (isQuoted(text)) return "quoted";
  if (!text.includes("://")) return /^https?:/i.test(text) ? "unreadable" : "no-scheme";
  if (!/^https?:/i.test(text)) return "other-scheme";
  if (!URL.canParse(text)) return "unreadable";
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") return "credentials";
  return /[?#]/.test(text) ? "query" : undefined;
}

export function requireOptions(options: unknown, call: string): void {
  if (typeof options !== "object" || options === null) throw new TypeError(`the options are missing: ${call}`);
}

/** A whole number from `min` to `max`, or undefined without one. Throws an error that names the option. */
export function wholeNumberOf(
  value: unknown,
  { option, min, max = MAX_TIMER_MS, unit = "" }: { option: string; min: number; max?: number; unit?: string },
): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  const found = typeof value === "string" ? JSON.stringify(value) : String(value);
  throw new TypeError(`${option} must be a whole number${unit} from ${min} to ${max}; it is ${found}`);
}

/** A timer that is longer ends at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Throws an error that names the option, for a length of time that is none: that of a variable that is not set is NaN. */
export function requireMilliseconds(
  lengths: Readonly<Record<string, unknown>>,
  range?: { min?: number; max?: number },
) {
  for (const [option, value] of Object.entries(lengths))
    wholeNumberOf(value, { option, min: 1, unit: " of milliseconds", ...range });
}

/** The bot's API tokens, trimmed. Throws an error, which never contains a token, if one of them cannot be one. */
export function apiTokens(value: unknown, named: Named): readonly [string, ...string[]] {
  const operator = "the operator creates one: pnpm ads tokens create --bot-id <digits>";
  return secrets(value, named, {
    missing: `the bot's API token; ${operator}`,
    needed: `the bot's API token of the ad service, which begins with ad_ there; ${operator}`,
  });
}

/** The companion API's key, trimmed. Throws an error, which never contains the key, if it cannot be one. */
export function apiKeyOf(value: unknown, named: Named): string {
  const source = `the value that the companion API has as ${named.variable}`;
  return secrets(value, named, { missing: source, needed: source })[0];
}

function secrets(
  value: unknown,
  { option, variable }: Named,
  { missing, needed }: { readonly missing: string; readonly needed: string },
): readonly [string, ...string[]] {
  const where = `${option} (${variable})`;
  const messages = {
    missing: `${where} is missing: set it to ${missing}`,
    quoted: `${where} is in quotes: remove the quotes`,
    placeholder: `${where} is the placeholder of an example: replace it with ${needed}`,
    bearer: `${where} begins with "Bearer": remove the word, the client adds it`,
    "bot-token": `${where} is a token of @BotFather: it needs ${needed}`,
    characters: `${where} contains a space, a line break or a character outside ASCII: copy it anew`,
  } satisfies Record<SecretFault, string>;
  const [first, ...others] = [value].flat().map(textOf).filter(Boolean);
  if (first === undefined) throw new TypeError(messages.missing);
  for (const secret of [first, ...others]) {
    const fault = secretFault(secret);
    if (fault !== undefined) throw new TypeError(messages[fault]);
  }
  return [first, ...others];
}

function secretFault(secret: string): SecretFault | undefined {
  if (isQuoted(secret)) return "quoted";
  if (/…|\.\.\.|^<.*>$/.test(secret)) return "placeholder";
  if (/^bearer\b/i.test(secret)) return "bearer";
  if (isBotToken(secret)) return "bot-token";
  return /^[\x21-\x7e]+$/.test(secret) ? undefined : "characters";
}

/** The bot's Telegram id as text. Throws an error, which never contains a token, if it is not one. */
export function botIdOf(value: unknown, { option, variable }: Named): string {
  const where = `${option} (${variable})`;
  const text = textOf(value);
  const fault = botIdFault(text);
  const source = "the digits before the colon of TELEGRAM_BOT_TOKEN";
  const messages = {
    missing: `${where} is missing: set it to the bot's Telegram id, ${source}`,
    "bot-token": `${where} contains a whole token of @BotFather: pass only ${source}`,
    username: `${where} is a username: pass the bot's Telegram id, ${source}`,
    "not-digits": `${where} must be the bot's Telegram id, ${source}; it is ${JSON.stringify(text)}`,
  } satisfies Record<BotIdFault, string>;
  if (fault !== undefined) throw new TypeError(messages[fault]);
  return text;
}

function botIdFault(text: string): BotIdFault | undefined {
  if (text === "") return "missing";
  if (isBotToken(text)) return "bot-token";
  if (text.startsWith("@")) return "username";
  return /^[1-9][0-9]{0,19}$/.test(text) ? undefined : "not-digits";
}

/** Names of unset variables are `undefined` in templates too: `${process.env.X}`. */
function textOf(value: unknown): string {
  const text = ["string", "number", "bigint"].includes(typeof value) ? String(value).trim() : "";
  return text === "undefined" || text === "null" ? "" : text;
}
