import { runInNewContext } from "node:vm";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import type { WebhookRefusal as RefusalOfAdCore } from "@intermission/ad-core/webhook-refusal";
import { body, genuine, randomCases, receiverCases, token } from "@intermission/testing/receiver-cases";
import { describe, expect, expectTypeOf, test } from "vitest";
import { verifyWebhook, type WebhookRefusal } from "./verify-webhook.ts";

const now = new Date(1_767_323_381_000);

test.each(receiverCases)("a webhook %s is %s", async (_name, expected, webhook) => {
  const { headers, body: sent = body, tokens = [token], at } = webhook;
  const { outcome } = await verifyWebhook(sent, headers, tokens, { now: at === undefined ? now : new Date(at * 1000) });
  expect(outcome === "not-signed" ? "refused" : "genuine").toBe(expected);
});

test("1000 webhooks that were changed at random get the verdict that is right", async () => {
  for (const [name, expected, { headers, body: sent = body, tokens = [token], at = 0 }] of randomCases()) {
    const { outcome } = await verifyWebhook(sent, headers, tokens, { now: new Date(at * 1000) });
    expect(outcome === "not-signed" ? "refused" : "genuine", name).toBe(expected);
  }
});

test("what a template makes of a variable that is not set is no token, for anyone could sign with it", async () => {
  for (const unset of ["undefined", "null"]) {
    const headers = {
      "x-signature": sign(body, unset),
      ...signStandardWebhook({ id: "evt_1", timestampSeconds: now.getTime() / 1000, body, tokens: [unset] }),
    };
    for (const tokens of [unset, ["", unset], { 7000000001: unset }])
      expect(await verifyWebhook(body, headers, tokens, { now })).toMatchObject({
        outcome: "not-signed",
        refusal: { cause: "no-token" },
      });
  }
});

test("headers may have any letter case, and come from any implementation of Headers", async () => {
  const usual = Object.fromEntries(Object.entries(genuine).map(([name, value]) => [name.toUpperCase(), value]));
  const foreign = { get: (name: string) => new Headers(genuine).get(name) };
  for (const headers of [usual, foreign])
    expect(await verifyWebhook(body, headers, token, { now })).toMatchObject({ outcome: "verified" });
  const twice = { ...genuine, ...usual };
  expect(await verifyWebhook(body, twice, token, { now })).toMatchObject({
    outcome: "not-signed",
    refusal: { fault: "malformed-signature" },
  });
});

test.each([undefined, null, "", [], ["", ""], {}, { 7000000001: undefined }])(
  "tokens that are not set (%j) verify nothing, and the refusal names the setting",
  async (tokens) => {
    const verified = await verifyWebhook(body, genuine, tokens as unknown as string, { now });
    expect(verified).toMatchObject({ outcome: "not-signed", refusal: { cause: "no-token" } });
    expect(verified).toHaveProperty("message", expect.stringContaining("AD_API_TOKEN"));
  },
);

describe("a mistake of the caller is explained", () => {
  const views = { DataView: new DataView(new Uint8Array(body).buffer), "another realm": realmBytes() };
  test.each(Object.entries(views))("not made of bytes in another form: %s", async (_name, bytes) => {
    const verified = await verifyWebhook(bytes as unknown as ArrayBuffer, genuine, token, { now });
    expect(verified).toMatchObject({ outcome: "verified" });
  });

  test.each<[string, unknown]>([
    ["undefined, as req.body without a parser", undefined],
    ["null", null],
    ["a parsed object", JSON.parse(body.toString())],
    ["a promise that nothing awaited", Promise.resolve(body)],
    ["a Request", new Request("http://bot.test", { method: "POST", body })],
    ["a number", 7],
    ["an object that claims to be an endless list of bytes", { length: 2 ** 53 - 1 }],
  ])("a body that is %s", async (_name, sent) => {
    const verified = await verifyWebhook(sent as Uint8Array, genuine, token, { now });
    expect(verified).toMatchObject({ outcome: "not-signed", refusal: { cause: "empty-body" } });
    expect(verified).toHaveProperty("message", expect.stringMatching(/parsed object or a promise.*raw bytes/));
  });

  test.each([undefined, null, Object.entries(genuine).flat()])("headers that are %j", async (headers) => {
    const verified = await verifyWebhook(body, headers as unknown as Headers, token, { now });
    expect(verified).toMatchObject({ outcome: "not-signed", refusal: { fault: "missing-signature" } });
    expect(verified).toHaveProperty("message", expect.stringContaining("does not read the request's headers"));
  });

  /** As a test runner that gives modules globals of their own. */
  function realmBytes(): unknown {
    return runInNewContext("Uint8Array.from(bytes).buffer", { bytes: [...body] });
  }
});

describe("the event", () => {
  test("is read with all that the service sends, from bytes, text and Headers alike", async () => {
    const event = {
      outcome: "verified",
      event: expect.objectContaining({ eventId: "evt_1", userId: "42", isTest: false }),
    };
    expect(await verifyWebhook(body, genuine, token, { now })).toMatchObject(event);
    expect(await verifyWebhook(body.toString(), new Headers(genuine), [token], { now })).toMatchObject(event);
  });

  test.each([
    ['{"event":"rewarded","user_tg_id":"0","event_id":"evt_1"}', { isTest: true }],
    [
      '{"event":"direct_link","user_tg_id":"7","test":true}',
      { isTest: true, event: "direct_link", eventId: undefined },
    ],
    ['{"event":"rewarded","user_tg_id":"7","new_field":{}}', { isTest: false, userId: "7" }],
  ])("of %s is %j", async (text, expected) => {
    const headers = { "x-signature": sign(Buffer.from(text), token) };
    const verified = await verifyWebhook(text, headers, token, { isTimestampOptional: true });
    expect(verified).toMatchObject({ outcome: "verified", event: expected });
  });

  test.each(["", "{", "null", "[]", '{"event":"other","user_tg_id":"7"}', '{"event":"rewarded","user_tg_id":7}'])(
    "is not read from %s",
    async (text) => {
      const headers = { "x-signature": sign(Buffer.from(text), token) };
      const verified = await verifyWebhook(text, headers, token, { isTimestampOptional: true });
      expect(verified).toEqual({ outcome: "malformed" });
    },
  );
});

test("a webhook without a timestamp is refused unless the receiver allows it, and a wrong one is refused even then", async () => {
  const headers = { "x-signature": genuine["x-signature"], "x-timestamp": now.toISOString() };
  const fault = "wrong-webhook-signature";
  expect(await refusalOf({ headers })).toEqual({ fault, cause: "no-headers" });
  expect(await verifyWebhook(body, headers, token, { now, isTimestampOptional: true })).toMatchObject({
    outcome: "verified",
  });
  const stale = { ...genuine, "webhook-timestamp": "5" };
  expect(await verifyWebhook(body, stale, token, { now, isTimestampOptional: true })).toMatchObject({
    outcome: "not-signed",
    refusal: { fault, cause: "mismatch" },
  });
});

async function refusalOf({
  headers = genuine as Record<string, string>,
  sent = body as Uint8Array,
  known = [token],
  at = now,
} = {}) {
  const verified = await verifyWebhook(sent, headers, known, { now: at });
  return verified.outcome === "not-signed" ? verified.refusal : undefined;
}

describe("what is wrong is named as far as a MAC proves it", () => {
  const wrong = (cause: string) => ({ fault: "wrong-signature", cause });
  const text = body.toString();
  const sentAt = now.getTime() / 1000;

  test.each([
    [600, { fault: "stale", seconds: 600 }],
    [301, { fault: "stale", seconds: 301 }],
    [-600, { fault: "future", seconds: 600 }],
  ])("a clock that is %d s off, in seconds, and only for what is genuine", async (seconds, expected) => {
    const at = new Date((sentAt + seconds) * 1000);
    expect(await refusalOf({ at })).toEqual(expected);
    expect(await refusalOf({ at, sent: Buffer.from(text.replace("42", "43")) })).toEqual(wrong("unknown"));
    expect(await refusalOf({ at, headers: { ...genuine, "webhook-id": "evt_2" } })).toEqual({
      fault: "wrong-webhook-signature",
      cause: "mismatch",
    });
  });

  test.each<[string, Buffer]>([
    ["was indented", Buffer.from(JSON.stringify(JSON.parse(text), undefined, 2))],
    [
      "has its fields in another order",
      Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).sort().reverse()))),
    ],
    ["has a line break more", Buffer.from(`${text}\n`)],
    ["is behind a byte order mark", Buffer.from(`\u{feff}${text}`)],
    ["is in base64", Buffer.from(body.toString("base64"))],
    ["was read as Latin-1", Buffer.from(body.toString("latin1"))],
  ])("a body that %s", async (_what, sent) => {
    expect(await refusalOf({ sent })).toEqual(wrong("changed-body"));
  });

  test("an empty body, a missing and a malformed signature", async () => {
    expect(await refusalOf({ sent: Buffer.alloc(0) })).toEqual(wrong("empty-body"));
    const { "x-signature": signature, ...others } = genuine;
    expect(await refusalOf({ headers: others })).toEqual({ fault: "missing-signature" });
    expect(await refusalOf({ headers: { ...genuine, "x-signature": signature.toUpperCase() } })).toEqual({
      fault: "malformed-signature",
    });
  });

  test.each(["\n", "\r\n", " ", "'"])("a token with %j around it", async (padding) => {
    expect(await refusalOf({ known: [`${token}${padding}`] })).toEqual(wrong("padded-token"));
    expect(await refusalOf({ known: [`${padding}ad_other${padding}`] })).toEqual(wrong("unknown"));
  });

  test("tokens of which the receiver has the older one only", async () => {
    const tokens = ["ad_newest", token];
    const standard = signStandardWebhook({ id: "evt_1", timestampSeconds: sentAt, body, tokens });
    const headers = { "x-signature": sign(body, "ad_newest"), ...standard };
    expect(await refusalOf({ headers })).toEqual(wrong("another-token"));
    expect(await refusalOf({ headers, known: ["ad_third"] })).toEqual(wrong("unknown"));
  });

  test.each<[string, Record<string, string | undefined>, object]>([
    ["no webhook-id", { "webhook-id": undefined }, { cause: "missing-header", header: "webhook-id" }],
    [
      "an empty webhook-signature",
      { "webhook-signature": "" },
      { cause: "malformed-header", header: "webhook-signature" },
    ],
    ["milliseconds", { "webhook-timestamp": `${sentAt}000` }, { cause: "milliseconds" }],
    ["a date", { "webhook-timestamp": now.toISOString() }, { cause: "malformed-header", header: "webhook-timestamp" }],
  ])("headers with %s", async (_what, change, expected) => {
    const headers = { ...genuine, ...change } as Record<string, string>;
    expect(await refusalOf({ headers })).toEqual({ fault: "wrong-webhook-signature", ...expected });
  });
});

// Checked by tsc: the package's public types do not name those of ad-core.
test("the refusals of the package are those of the other receivers", () => {
  expectTypeOf<WebhookRefusal>().toEqualTypeOf<RefusalOfAdCore>();
});
