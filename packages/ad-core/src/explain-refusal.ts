import { webhookFieldOrder } from "./outgoing-webhook.ts";
import { type StandardHeader, standardHeaders, type WebhookRefusal } from "./webhook-refusal.ts";

// What a receiver can say about a webhook that it refuses. It computes no MAC: the caller does, with its own library.

/** What is wrong with headers of Standard Webhooks that cannot be verified. */
export function judgeStandardHeaders(headers: Readonly<Record<string, unknown>>): WebhookRefusal {
  const fault = "wrong-webhook-signature";
  const missing = standardHeaders.filter((name) => headers[name] === undefined);
  const [header] = missing;
  if (missing.length === standardHeaders.length) return { fault, cause: "no-headers" };
  if (header !== undefined) return { fault, cause: "missing-header", header };
  const timestamp = headers["webhook-timestamp"];
  if (typeof timestamp === "string" && /^[1-9][0-9]{12}$/.test(timestamp)) return { fault, cause: "milliseconds" };
  const malformed = standardHeaders.find((name) => !isWellFormed(name, headers[name]));
  return { fault, cause: "malformed-header", header: malformed ?? "webhook-signature" };
}

function isWellFormed(name: StandardHeader, value: unknown): boolean {
  if (typeof value !== "string") return false;
  const patterns: Record<StandardHeader, RegExp> = {
    "webhook-id": /^[\x21-\x2d\x2f-\x7e]{1,256}$/,
    "webhook-timestamp": /^(0|[1-9][0-9]{0,11})$/,
    "webhook-signature": /^.{1,4096}$/s,
  };
  return patterns[name].test(value);
}

/** `stale` or `future`, for a genuine webhook whose time is not within the tolerance. */
export function judgeAge(ageSeconds: number): WebhookRefusal {
  return { fault: ageSeconds < 0 ? "future" : "stale", seconds: Math.round(Math.abs(ageSeconds)) };
}

/** The tokens without what a settings file or a shell may have put around them, where that changes them. */
export function unpaddedTokens(tokens: readonly string[]): string[] {
  return tokens.flatMap((token) => {
    const bare = token.replace(/^["'\s\u200b]+|["'\s\u200b]+$/g, "");
    return bare === token || bare === "" ? [] : [bare];
  });
}

const encoder = new TextEncoder();
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
/** Larger bodies are not searched: a webhook has less. */
const MAX_SEARCHED_BYTES = 20_000;

/**
 * What the ad service may have sent, if these bytes are its body after a parser, a proxy or a gateway wrote it anew: as
 * compact JSON, in its own order of fields, encoded in base64, with its UTF-8 read as Latin-1, or with a byte order mark or a
 * line break around it. At most five bodies, none of which is this one.
 */
export function possibleOriginals(body: Uint8Array): Uint8Array<ArrayBuffer>[] {
  if (body.byteLength === 0 || body.byteLength > MAX_SEARCHED_BYTES) return [];
  const text = utf8.decode(body);
  const bare = text.trim();
  const fields = fieldsOf(bare);
  const texts = [
    bare,
    fromLatin1(bare),
    fromBase64(bare),
    ...(fields ? [JSON.stringify(fields), JSON.stringify({ ...inOrder(fields), ...fields })] : []),
  ];
  const others = new Set(texts.filter((one) => one !== undefined && one !== text));
  return [...others].map((one) => encoder.encode(one));
}

function fromLatin1(text: string): string | undefined {
  const isChanged = /[\u0080-\u00ff]/.test(text) && !/[^\0-\u00ff]/.test(text);
  return isChanged ? utf8.decode(bytesOf(text)) : undefined;
}

function fromBase64(text: string): string | undefined {
  const isBase64 = /^[A-Za-z0-9+/]{20,}={0,2}$/.test(text) && text.length % 4 === 0;
  return isBase64 ? utf8.decode(bytesOf(atob(text))) : undefined;
}

function bytesOf(latin1: string): Uint8Array {
  return Uint8Array.from(latin1, (letter) => letter.charCodeAt(0));
}

function fieldsOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function inOrder(fields: object): object {
  const known = new Map(Object.entries(fields));
  return Object.fromEntries(webhookFieldOrder.filter((name) => known.has(name)).map((name) => [name, known.get(name)]));
}
