import type { FailedCheck } from "./refused-webhook.ts";

/** What happened: a user earned with a view, a click or a task, or saw an interstitial. */
export interface AdEvent {
  /**
   * `rewarded`: the ad was watched to its end and closed. `direct_link`: the direct link was followed. Only for bots that ask for
   * tasks: `task`, the user joined a channel; `task_reversed`, the user left it too early, and what `task` paid is to be taken back.
   * Only for bots that ask for interstitials: `interstitial`, one was charged; pay nothing for it.
   */
  readonly event: "rewarded" | "direct_link" | "interstitial" | "task" | "task_reversed";
  /** The user's Telegram id; `"0"` in a test event without a tester. */
  readonly userId: string;
  /** The same on every attempt and every replay. Undefined if the service sends no ids. */
  readonly eventId: string | undefined;
  readonly botId: string | undefined;
  readonly code: string | undefined;
  /** The reference that the code was created with. */
  readonly reference: string | undefined;
  /**
   * The `startapp` value of the link that opened the mini-app, unless it is a code. Whoever made the link chose it, and that
   * may be the user: do not let it decide what you pay.
   */
  readonly startParam: string | undefined;
  /**
   * What your own mini-app passed to `show({ note })`. Unsigned: do not let it decide what you pay. Undefined unless the bot's
   * setting includes it (`pnpm ads bots update <bot-id> --sends-client-notes yes`).
   */
  readonly clientNote?: string | undefined;
  /** When it was earned, in RFC 3339. */
  readonly occurredAt: string | undefined;
  /**
   * What it is worth to the bot, in millionths of `currency`: its share of what the advertiser was charged, 0 where nothing was.
   * Undefined unless the bot's setting includes it (`pnpm ads bots update <bot-id> --include-revenue yes`).
   */
  readonly revenueMicros: number | undefined;
  /** ISO 4217. */
  readonly currency: string | undefined;
  /** A test of the webhook, for which nothing is paid. */
  readonly isTest: boolean;
}

/** Why a webhook is not accepted. `message` of the result says the same in a sentence, with the next step. */
export type WebhookRefusal =
  | { readonly fault: "missing-signature" | "malformed-signature" }
  | {
      readonly fault: "wrong-signature";
      /**
       * `no-token`: there is none that is not empty. `unlisted-bot`: tokens are passed by bot, and none for the event's. All but
       * these and `unknown` are returned only if the MAC matches something else that proves it, or there is no body.
       */
      readonly cause:
        | "unknown"
        | "changed-body"
        | "empty-body"
        | "no-token"
        | "another-token"
        | "another-bot"
        | "unlisted-bot"
        | "padded-token";
    }
  | { readonly fault: "wrong-webhook-signature"; readonly cause: "no-headers" | "milliseconds" | "mismatch" }
  | {
      readonly fault: "wrong-webhook-signature";
      readonly cause: "missing-header" | "malformed-header";
      readonly header: "webhook-id" | "webhook-timestamp" | "webhook-signature";
    }
  /** Genuine, but sent this long ago (`stale`) or ahead (`future`) by this machine's clock. */
  | { readonly fault: "stale" | "future"; readonly seconds: number };

export type VerifiedWebhook =
  | { readonly outcome: "verified"; readonly event: AdEvent }
  /** Not signed with one of the tokens, or the timestamp is too far from now. Answer 401 and do nothing. */
  | { readonly outcome: "not-signed"; readonly refusal: WebhookRefusal; readonly message: string }
  /** Signed, but not an event of the contract. Answer 400. */
  | { readonly outcome: "malformed" };

export interface VerifyOptions {
  /** The largest difference between the time of sending and now; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /**
   * Accepts webhooks of an ad service that sends only `X-Signature`. False by default: without `webhook-timestamp` a captured
   * webhook could be replayed at any time, and only its `event_id` would reveal that.
   */
  readonly isTimestampOptional?: boolean | undefined;
  readonly now?: Date | undefined;
}

/** `Headers` of any implementation, or a record whose names may have any letter case. */
type HeaderSource =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const utf8 = new TextEncoder();

/** API tokens of several bots by bot id: each bot's one, or both while they rotate. */
export type TokensByBot = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook of an ad service over its raw bytes, then parses these bytes into an event.
 *
 * `tokens`: the bot's API tokens, both of them while they rotate; for several bots, a record by bot id: an event is verified
 * only with the tokens of the bot that it names, and one that names none is of the bot whose token signed it. In an array,
 * each token signs for every bot. Empty tokens are ignored: anyone could sign with an unset variable.
 *
 * Checks `X-Signature` (`sha256=` and lower-case hex) and, if sent, the three headers of Standard Webhooks 1.0.
 * Never rejects for any body or headers, of whatever kind.
 */
export async function verifyWebhook(
  rawBody: Uint8Array | ArrayBuffer | string,
  headers: HeaderSource,
  tokens: string | readonly string[] | TokensByBot,
  { toleranceSeconds = 300, isTimestampOptional = false, now = new Date() }: VerifyOptions = {},
): Promise<VerifiedWebhook> {
  const body = bytesOf(rawBody);
  const read = readerOf(headers ?? {});
  const names = ["x-signature", "webhook-id", "webhook-timestamp", "webhook-signature"];
  const [signature, id, timestamp, list] = names.map(read);
  const { own, others, isUnlisted } = tokensFor(body, tokens);
  const keys = await Promise.all(own.map(keyOf));
  const hex = /^sha256=([0-9a-f]{64})$/.exec(signature ?? "")?.[1];
  const isSigned = async (bytes: Uint8Array<ArrayBuffer>, by: readonly Key[]) =>
    hex !== undefined && (await isSignedBy(by, fromHex(hex), bytes));
  const macs = list && list.length <= 4096 ? list.split(" ").map(fromVersion1) : [];
  const isStandardSigned = async () => {
    const signed = Uint8Array.from([...utf8.encode(`${id}.${timestamp}.`), ...body]);
    return (await Promise.all(macs.map((mac) => mac && isSignedBy(keys, mac, signed)))).includes(true);
  };
  const needsTime = !isTimestampOptional || (id ?? timestamp ?? list) !== undefined;
  const isReadable = /^[\x21-\x2d\x2f-\x7e]{1,256}$/.test(id ?? "") && /^(0|[1-9][0-9]{0,11})$/.test(timestamp ?? "");
  const ageSeconds = now.getTime() / 1000 - Number(timestamp);

  let failed: FailedCheck | undefined;
  if (!(await isSigned(body, keys))) failed = "x-signature";
  else if (needsTime && !(isReadable && macs.length)) failed = "webhook-headers";
  else if (needsTime && !(await isStandardSigned())) failed = "webhook-signature";
  // This comparison is false for NaN, so an invalid clock refuses.
  else if (needsTime && !(Math.abs(ageSeconds) <= toleranceSeconds)) failed = "time";
  if (failed) {
    const { explainRefusal } = await import("./refused-webhook.ts");
    const explained = await explainRefusal(failed, {
      body,
      tokens: own,
      othersTokens: others,
      isUnlisted,
      ageSeconds,
      isStandardSigned,
      headers: Object.fromEntries(names.map((name) => [name, read(name)])),
      isSigned: async (bytes, by) => isSigned(bytes, await Promise.all(by.map(keyOf))),
    });
    return { outcome: "not-signed", ...explained };
  }
  const event = readEvent(body);
  if (!event) return { outcome: "malformed" };
  if (event.botId === undefined && isByBot(tokens)) {
    for (const [botId, own] of Object.entries(tokens)) {
      const ownKeys = await Promise.all(nonEmpty(own).map(keyOf));
      if (await isSigned(body, ownKeys)) return { outcome: "verified", event: { ...event, botId } };
    }
  }
  return { outcome: "verified", event };
}

export function isByBot(tokens: unknown): tokens is TokensByBot {
  return typeof tokens === "object" && tokens !== null && !Array.isArray(tokens);
}

/** The bot that an event names, whoever signed it. */
export function namedBot(body: Uint8Array): string | undefined {
  return readEvent(body)?.botId;
}

/** `others`: the tokens of bots that the event does not name. */
function tokensFor(body: Uint8Array, tokens: string | readonly string[] | TokensByBot) {
  if (!isByBot(tokens)) return { own: nonEmpty(tokens), others: [], isUnlisted: false };
  const named = namedBot(body);
  const of = (isOfBot: boolean) =>
    Object.entries(tokens).flatMap(([botId, own]) =>
      (named === undefined || botId === named) === isOfBot ? nonEmpty(own) : [],
    );
  const own = of(true);
  return { own, others: of(false), isUnlisted: own.length === 0 };
}

/** A variable that is not set is "undefined" in a template, with which anyone could sign. */
function nonEmpty(tokens: string | readonly string[] | undefined): string[] {
  return [tokens ?? []].flat().filter((token) => !/^(undefined|null)?$/.test(token));
}

/** Empty without bytes. Test runners have their own `ArrayBuffer`. */
function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return utf8.encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  return new Uint8Array({}.toString.call(body) === "[object ArrayBuffer]" ? (body as ArrayBuffer) : []);
}

/** A header that arrives more than once is read as an invalid value. */
function readerOf(headers: HeaderSource): (name: string) => string | undefined {
  const { get } = headers;
  if (typeof get === "function") return (name) => get.call(headers, name) ?? undefined;
  return (name) => {
    const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
    return values.length > 1 ? "" : values[0];
  };
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

function keyOf(token: string): Promise<Key> {
  return crypto.subtle.importKey("raw", utf8.encode(token), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** Tries every key; WebCrypto compares in constant time. */
async function isSignedBy(
  keys: readonly Key[],
  mac: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const verdicts = await Promise.all(keys.map((key) => crypto.subtle.verify("HMAC", key, mac, signed)));
  return verdicts.includes(true);
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** The MAC of `v1,<base64>`; undefined for other versions and other spellings. */
function fromVersion1(entry: string): Uint8Array<ArrayBuffer> | undefined {
  const base64 = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry)?.[1];
  if (base64 === undefined) return undefined;
  const text = atob(base64);
  return btoa(text) === base64 ? Uint8Array.from(text, (letter) => letter.charCodeAt(0)) : undefined;
}

function readEvent(body: Uint8Array): AdEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const { event, user_tg_id: userId } = fields;
  const texts = [fields.event_id, fields.bot_id, fields.code, fields.reference, fields.occurred_at];
  const areTexts = texts.every((text) => !text || typeof text === "string");
  if (!isKnown(event) || !areTexts) return undefined;
  if (typeof userId !== "string" || !/^(0|[1-9][0-9]{0,19})$/.test(userId)) return undefined;
  return eventOf(fields);
}

const isKnown = (event: unknown) =>
  event === "rewarded" ||
  event === "direct_link" ||
  event === "interstitial" ||
  event === "task" ||
  event === "task_reversed";

/** An event by its names on the wire. */
export function eventOf(fields: Readonly<Record<string, unknown>>): AdEvent {
  return {
    event: fields.event as AdEvent["event"],
    userId: String(fields.user_tg_id),
    eventId: textOf(fields.event_id),
    botId: textOf(fields.bot_id),
    code: textOf(fields.code),
    reference: textOf(fields.reference),
    // For information only: an event must not be lost because of it.
    startParam: startParamOf(fields.start_param),
    clientNote: textOf(fields.client_note),
    occurredAt: textOf(fields.occurred_at),
    ...revenueOf(fields),
    isTest: fields.test === true || fields.user_tg_id === "0",
  };
}

/** Null and "" are how some services leave a field out; as an id they would make different events the same one. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** For information only: both undefined unless both are valid. */
function revenueOf({ revenue_micros, currency }: Readonly<Record<string, unknown>>) {
  const isValid =
    Number.isSafeInteger(revenue_micros) &&
    Number(revenue_micros) >= 0 &&
    typeof currency === "string" &&
    /^[A-Z]{3}$/.test(currency);
  return isValid
    ? { revenueMicros: Number(revenue_micros), currency }
    : { revenueMicros: undefined, currency: undefined };
}

/** Undefined unless it is a value that Telegram allows. */
function startParamOf(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Za-z0-9_-]{1,512}$/.test(value) ? value : undefined;
}
