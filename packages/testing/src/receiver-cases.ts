import {
  encodeWebhookEvent,
  type OutgoingWebhookEvent,
  webhookFieldOrder,
} from "@intermission/ad-core/outgoing-webhook";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import vectors from "@intermission/ad-core/vectors.json" with { type: "json" };
import fc from "fast-check";
import { forgeWebhook } from "./forge-webhook.ts";

const now = 1_767_323_381;
export const token = "ad_new";
const oldToken = "ad_old";
export const body = Buffer.from(
  '{"event":"rewarded","event_id":"evt_1","user_tg_id":"42","reference":"Bestellung №7 🎁"}',
);

const headersOf = (changes: Record<string, string> = {}, signedBody = body, tokens = [token]) => ({
  "x-signature": sign(signedBody, tokens[0] ?? ""),
  ...signStandardWebhook({ id: "evt_1", timestampSeconds: now, body: signedBody, tokens }),
  ...changes,
});
export const genuine = headersOf();

/** A token with which anyone can sign: HMAC pads a short key with zero bytes, so this equals the empty key. */
const emptyToken = "\0";

/** As languages read a variable that is not set, whatever the type says. */
const unset = null as unknown as string;

interface Webhook {
  headers: Record<string, string>;
  body?: Uint8Array;
  tokens?: string[];
  at?: number;
}

type WebhookCase = [name: string, expected: "genuine" | "refused", webhook: Webhook];

/** One line of input for the examples' command lines. */
export function lineOf({ headers, body: sent = body, tokens = [token], at = now }: Webhook): string {
  return JSON.stringify({ headers, body: Buffer.from(sent).toString("base64"), tokens, now: at });
}

const values: OutgoingWebhookEvent = {
  event: "rewarded",
  event_id: "evt_01993a1c-7a10-7000-8000-000000000001",
  bot_id: "7000000001",
  user_tg_id: "42",
  code: "Zx7aQ2mN8pRt3vWk",
  reference: "Bestellung №7",
  start_param: "ref_7",
  client_note: "level 7 · 🎁",
  occurred_at: "2026-01-02T03:09:41.000Z",
  revenue_micros: 1750,
  currency: "EUR",
  test: true,
};
/** A field that came later has some text: these bodies differ from what was signed whatever it says. */
const eventOfAllFields = Object.fromEntries(webhookFieldOrder.map((name) => [name, `some ${name}`]));
/** As the ad service writes it. */
const bodyOfAllFields = Buffer.from(encodeWebhookEvent({ ...eventOfAllFields, ...values }));

/** As a parser writes it whose map sorts its keys. */
function inAnotherOrder(json: Buffer): Buffer {
  return Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json.toString())).sort())));
}

/** Encodes JSON in ASCII with escapes, as some serializers do. */
function inAscii(json: Buffer): Buffer {
  const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return Buffer.from(json.toString().replace(/[^\0-\x7f]/g, escapeOf));
}

/** Webhooks with the correct verdict of a receiver. */
export const receiverCases: WebhookCase[] = [
  ["as it was sent", "genuine", { headers: genuine }],
  ["four minutes late", "genuine", { headers: genuine, at: now + 240 }],
  ["while tokens rotate", "genuine", { headers: headersOf({}, body, [oldToken, token]), tokens: [token, oldToken] }],
  ["an empty body", "genuine", { headers: headersOf({}, Buffer.alloc(0)), body: Buffer.alloc(0) }],
  ["a token beyond ASCII", "genuine", { headers: headersOf({}, body, ["clé-🔑"]), tokens: ["clé-🔑"] }],
  [
    "a signature of an unknown version in addition to ours",
    "genuine",
    { headers: headersOf({ "webhook-signature": `v2,AAAA ${genuine["webhook-signature"]}` }) },
  ],
  ...vectors.standard_webhooks.map(({ description, id, timestamp, tokens, body_hex, signature }): WebhookCase => {
    const sent = Buffer.from(body_hex, "hex");
    const standard = { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signature };
    const headers = { "x-signature": sign(sent, tokens[0] ?? ""), ...standard };
    return [`the vector of ${description}`, "genuine", { headers, body: sent, tokens, at: timestamp }];
  }),
  ["another body", "refused", { headers: genuine, body: Buffer.from(body.toString().replace("42", "43")) }],
  ["a byte more", "refused", { headers: genuine, body: Buffer.concat([body, Buffer.from("\n")]) }],
  [
    "all fields in another order",
    "refused",
    { headers: headersOf({}, bodyOfAllFields), body: inAnotherOrder(bodyOfAllFields) },
  ],
  [
    "all fields in another order, in ASCII",
    "refused",
    { headers: headersOf({}, bodyOfAllFields), body: inAscii(inAnotherOrder(bodyOfAllFields)) },
  ],
  ["another token", "refused", { headers: genuine, tokens: [oldToken] }],
  ["no token to verify with", "refused", { headers: genuine, tokens: [] }],
  [
    "signed with the empty token, which is in the list of tokens",
    "refused",
    { headers: headersOf({}, body, [emptyToken]), tokens: [token, ""] },
  ],
  [
    "signed with the empty token, where the variable of a token is not set",
    "refused",
    { headers: headersOf({}, body, [emptyToken]), tokens: [token, unset] },
  ],
  ["six minutes late", "refused", { headers: genuine, at: now + 360 }],
  ["six minutes early", "refused", { headers: genuine, at: now - 360 }],
  ["another time", "refused", { headers: headersOf({ "webhook-timestamp": String(now + 1) }) }],
  ["another id", "refused", { headers: headersOf({ "webhook-id": "evt_2" }) }],
  [
    "the boundary between id and time moved",
    "refused",
    {
      headers: headersOf(
        { "x-signature": sign(body, token), "webhook-id": `evt_1.${now}`, "webhook-timestamp": "5" },
        Buffer.concat([Buffer.from("5."), body]),
      ),
      at: 5,
    },
  ],
  [
    "two signatures in one X-Signature",
    "refused",
    { headers: headersOf({ "x-signature": `${genuine["x-signature"]}, ${genuine["x-signature"]}` }) },
  ],
  [
    "upper-case hex",
    "refused",
    { headers: headersOf({ "x-signature": `sha256=${genuine["x-signature"].slice(7).toUpperCase()}` }) },
  ],
  ["a line break behind it", "refused", { headers: headersOf({ "x-signature": `${genuine["x-signature"]}\n` }) }],
  ["no X-Signature", "refused", { headers: headersOf({ "x-signature": "" }) }],
  ["no webhook-signature", "refused", { headers: headersOf({ "webhook-signature": "" }) }],
  ["a malformed time", "refused", { headers: headersOf({ "webhook-timestamp": "soon" }) }],
];

/** More webhooks with random changes, except those whose headers a server would not pass on as text. */
export function randomCases(): WebhookCase[] {
  return fc.sample(fc.gen(), { numRuns: 1000, seed: 1 }).flatMap((draw): WebhookCase[] => {
    const { received, isXSignatureGenuine, isStandardGenuine } = forgeWebhook((bound) =>
      draw(fc.nat, { max: bound - 1 }),
    );
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(received.headers)) {
      if (value !== undefined && typeof value !== "string") return [];
      if (value !== undefined) headers[name] = value;
    }
    const { body: sent, tokens, now: at } = received;
    const expected = isXSignatureGenuine && isStandardGenuine ? "genuine" : "refused";
    const webhook = { headers, body: sent, tokens, at };
    return [[lineOf(webhook), expected, webhook]];
  });
}
