import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";

/**
 * HMAC-SHA256 of the body (RFC 2104), keyed with the UTF-8 bytes of the token. Node encodes the string itself: a Buffer as
 * the key takes five times as long (10.5 against 2.2 µs).
 */
function mac(body: Uint8Array, token: string): Hmac {
  return createHmac("sha256", token).update(body);
}

/** The value of `X-Signature` for these bytes: `sha256=` and 64 lower-case hex digits. Throws for an empty token. */
export function sign(body: Uint8Array, token: string): string {
  if (token === "") throw new Error("a token must not be empty: anyone could sign with an empty token");
  return `sha256=${mac(body, token).digest("hex")}`;
}

/**
 * Whether the header is the signature of exactly these bytes under one of the tokens.
 *
 * The grammar is strict: one value, `sha256=` and 64 lower-case hex digits, nothing around them. Every token is tried and
 * compared in constant time, and the MAC is computed for a missing or malformed header too, so that timing reveals nothing.
 * An empty token never verifies. Never throws for any header.
 */
export function verify(body: Uint8Array, header: unknown, tokens: readonly string[]): boolean {
  const presented = textBytes(header);
  let isValid = false;
  for (const token of tokens) {
    if (isSame(presented, `sha256=${mac(body, token).digest("hex")}`) && token !== "") isValid = true;
  }
  return isValid;
}

const nothing = Buffer.alloc(0);

/** No signature is longer than 100 letters. */
function textBytes(text: unknown): Buffer {
  return typeof text === "string" && text.length <= 100 ? Buffer.from(text) : nothing;
}

/** Compares text, since a MAC has only one spelling: faster than decoding hex or base64 (2.7 against 3.2 µs). */
function isSame(presented: Buffer, expected: string): boolean {
  const bytes = Buffer.from(expected);
  return presented.length === bytes.length && timingSafeEqual(presented, bytes);
}

/** No full stop: it separates id, time and body in the signed text, and one in the id could move the boundary. */
const webhookIdPattern = /^[\x21-\x2d\x2f-\x7e]{1,256}$/;
const timestampPattern = /^(0|[1-9][0-9]{0,11})$/;
/** The three headers of Standard Webhooks 1.0, by their names on the wire. */
export interface StandardWebhookHeaders {
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

/** A token, whose UTF-8 bytes are the key, or the key itself: the decoded bytes of a `whsec_` secret. */
export type StandardWebhookKey = string | Uint8Array;

function standardSignature(id: string, timestamp: string, body: Uint8Array, key: StandardWebhookKey): string {
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`, "utf8").update(body).digest("base64")}`;
}

/**
 * The headers of Standard Webhooks 1.0 for one attempt: a signature for each token, so that a receiver may know either
 * token during a rotation. Throws for an id or a time that no receiver could
 * accept, and without a token.
 */
export function signStandardWebhook(attempt: {
  readonly id: string;
  /** Unix time of this attempt, in whole seconds. */
  readonly timestampSeconds: number;
  readonly body: Uint8Array;
  readonly tokens: readonly StandardWebhookKey[];
}): StandardWebhookHeaders {
  const timestamp = String(attempt.timestampSeconds);
  if (!webhookIdPattern.test(attempt.id)) throw new Error(`"${attempt.id}" cannot be a webhook-id`);
  if (!timestampPattern.test(timestamp)) throw new Error(`${timestamp} cannot be a webhook-timestamp`);
  if (attempt.tokens.length === 0 || attempt.tokens.some((key) => key.length === 0))
    throw new Error("a webhook is signed with a token");
  const signatures = attempt.tokens.map((token) => standardSignature(attempt.id, timestamp, attempt.body, token));
  return { "webhook-id": attempt.id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

/** `stale` and `future` are returned for authentic webhooks only. */
export type StandardWebhookVerdict =
  | { outcome: "valid" }
  | { outcome: "missing-header" | "malformed-header" | "stale" | "future" | "wrong-signature" };

/**
 * Verifies the headers of Standard Webhooks 1.0 for the bytes of the body. The timestamp must lie within
 * `toleranceSeconds` (300 by default) before or after `now`. Signatures of versions other than `v1` are ignored, and an
 * empty token never verifies. Header names are looked up in lower case. Never throws for any headers.
 */
export function verifyStandardWebhook(received: {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
  readonly tokens: readonly StandardWebhookKey[];
  readonly now: Date;
  readonly toleranceSeconds?: number;
}): StandardWebhookVerdict {
  const { headers, body, tokens, now, toleranceSeconds = 300 } = received;
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const list = headers["webhook-signature"];
  if (id === undefined || timestamp === undefined || list === undefined) return { outcome: "missing-header" };
  if (typeof id !== "string" || typeof timestamp !== "string" || typeof list !== "string")
    return { outcome: "malformed-header" };
  if (!webhookIdPattern.test(id) || !timestampPattern.test(timestamp) || list.length > 4096)
    return { outcome: "malformed-header" };
  if (!isSignedByOne(list.split(" "), tokens, (token) => standardSignature(id, timestamp, body, token))) {
    return { outcome: "wrong-signature" };
  }
  const ageSeconds = now.getTime() / 1000 - Number(timestamp);
  // This comparison is false for NaN, so an invalid clock refuses.
  if (Math.abs(ageSeconds) <= toleranceSeconds) return { outcome: "valid" };
  return { outcome: ageSeconds > 0 ? "stale" : "future" };
}

function isSignedByOne(
  entries: readonly string[],
  tokens: readonly StandardWebhookKey[],
  signatureOf: (token: StandardWebhookKey) => string,
): boolean {
  const expected = tokens.filter((token) => token.length > 0).map(signatureOf);
  let isValid = false;
  for (const entry of entries) {
    const presented = textBytes(entry);
    for (const one of expected) if (isSame(presented, one)) isValid = true;
  }
  return isValid;
}
