import { request as httpRequest } from "node:http";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startTestApi, type TestApi, testConfig, testToken } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

let made = 0;
const eventOf = (changes: object = {}) => {
  made += 1;
  return {
    event: "rewarded",
    user_tg_id: String(1000 + made),
    event_id: `evt_${made}`,
    bot_id: testConfig.botId,
    code: `Code${made}`,
    occurred_at: "2026-03-01T10:00:00Z",
    ...changes,
  };
};

describe("webhooks", () => {
  let store: TestDatabase;
  let api: TestApi;
  const more: TestApi[] = [];
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    api = await startTestApi(store.database);
  });
  afterEach(() => Promise.all(more.splice(0).map((each) => each.stop())));
  afterAll(async () => {
    await api.stop();
    await store.dispose();
  });

  const start = async (changes: Parameters<typeof startTestApi>[1]) => {
    const started = await startTestApi(store.database, changes);
    more.push(started);
    return started;
  };
  const entriesOf = async (userId: string) =>
    (await api.client().rewards.list.query({ userId })).entries.map(({ amount, reason }) => reason ?? amount).reverse();

  test("a webhook delivered twice pays once and is answered 200 twice", async () => {
    const event = eventOf();
    expect((await api.deliver(event)).status).toBe(200);
    expect((await api.deliver(event)).status).toBe(200);
    expect(await entriesOf(event.user_tg_id)).toEqual([10]);
  });

  test("the startapp value of a webhook is in the ledger; one that Telegram does not allow loses no event", async () => {
    const values = ["ref_7000000123", "x".repeat(512), "x".repeat(513), "a b", "\u0000", 7, null, {}, "\ud800"];
    for (const start_param of values) {
      const event = eventOf({ start_param });
      expect((await api.deliver(event)).status, JSON.stringify(start_param)).toBe(200);
      const { entries } = await api.client().rewards.list.query({ userId: event.user_tg_id });
      const isAllowed = values.indexOf(start_param) < 2;
      expect(entries).toMatchObject([{ amount: 10, startParam: isAllowed ? start_param : null }]);
    }
  });

  test("what an event is worth is in its receipt, for the operator; a value that is none loses no event", async () => {
    const invalid = [
      [-1, "EUR"],
      [1.5, "EUR"],
      ["1750", "EUR"],
      [2 ** 60, "EUR"],
      [5, "euro"],
      [6, undefined],
      [null, "EUR"],
    ];
    const valid = [
      [1750, "EUR"],
      [0, "USD"],
    ];
    for (const [revenue_micros, currency] of [...valid, ...invalid]) {
      const event = eventOf({ revenue_micros, currency });
      expect((await api.deliver(event)).status, JSON.stringify([revenue_micros, currency])).toBe(200);
      const isValid = valid.some(([micros]) => micros === revenue_micros);
      expect(await api.client().receipts.list.query({ userId: event.user_tg_id })).toMatchObject([
        {
          amount: 10,
          ...(isValid ? { revenueMicros: revenue_micros, currency } : { revenueMicros: null, currency: null }),
        },
      ]);
      const { entries } = await api.client().rewards.list.query({ userId: event.user_tg_id });
      expect(Object.keys(entries[0] ?? {})).not.toContain("revenueMicros");
    }
  });

  test("64 parallel copies over two nodes pay once, and each is answered 200", async () => {
    const event = eventOf();
    const other = await start({});
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? api : other).deliver(event)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await entriesOf(event.user_tg_id)).toEqual([10]);
    expect(await api.client().rewards.balance.query({ userId: event.user_tg_id })).toEqual({ balance: 10 });
  });

  test("view and link of one code at the same moment pay once", async () => {
    for (let round = 0; round < 10; round++) {
      const view = eventOf();
      const link = eventOf({ user_tg_id: view.user_tg_id, code: view.code, event: "direct_link" });
      await Promise.all([api.deliver(view), api.deliver(link)]);
      expect(await entriesOf(view.user_tg_id)).toHaveLength(2);
      expect(await entriesOf(view.user_tg_id)).toContain("code-already-paid");
    }
  });

  test("the daily cap holds under parallel events", async () => {
    const capped = await start({ payout: { ...testConfig.payout, dailyCap: 5 } });
    await Promise.all(Array.from({ length: 20 }, () => capped.deliver(eventOf({ user_tg_id: "77" }))));
    const outcomes = await entriesOf("77");
    expect(outcomes.filter((each) => each === 10)).toHaveLength(5);
    expect(outcomes.filter((each) => each === "daily-cap")).toHaveLength(15);
  });

  test("an event is paid if this API never issued its code, or if it has none", async () => {
    const event = eventOf({ code: undefined });
    expect((await api.deliver(event)).status).toBe(200);
    expect(await entriesOf(event.user_tg_id)).toEqual([10]);
  });

  test("a test event pays no one", async () => {
    const event = eventOf({ user_tg_id: "0", test: true });
    expect((await api.deliver(event)).status).toBe(200);
    const [receipt] = await api.client().receipts.latest.query({ limit: 1 });
    expect(receipt).toMatchObject({ outcome: "refused", reason: "test", eventId: event.event_id });
  });

  test("a receipt shows exactly the bytes that were signed", async () => {
    const body = ` {"event":"direct_link", "user_tg_id":"555","event_id":"evt_bytes","emoji":"\u{1F600}"}\n`;
    await api.deliver(body);
    const [receipt] = await api.client().receipts.latest.query({ limit: 1 });
    expect(receipt).toMatchObject({ outcome: "credited", event: "direct_link", rawBody: body, verified: true });
    expect(receipt?.signatureHeader).toBe(sign(Buffer.from(body), testToken));
  });

  test("during a rotation of tokens both are accepted", async () => {
    const rotating = await start({ adApiTokens: ["ad_another_token_", testToken] });
    expect((await rotating.deliver(eventOf())).status).toBe(200);
  });

  const valid = (body: string) => sign(Buffer.from(body), testToken);
  const hex = (body: string) => valid(body).slice("sha256=".length);
  test.each<[string, (body: string) => string]>([
    ["empty", () => ""],
    ["by another token", (body) => sign(Buffer.from(body), "ad_some_other_token")],
    ["of other bytes", () => valid("{}")],
    ["without its prefix", (body) => hex(body)],
    ["with another prefix", (body) => `sha1=${hex(body)}`],
    ["upper-case prefix", (body) => `SHA256=${hex(body)}`],
    ["upper-case hex", (body) => `sha256=${hex(body).toUpperCase()}`],
    ["63 digits", (body) => valid(body).slice(0, -1)],
    ["65 digits", (body) => `${valid(body)}0`],
    ["a blank inside", (body) => valid(body).replace("=", "= ")],
    ["junk after the hex", (body) => `${valid(body)};v=1`],
    ["two values", (body) => `${valid(body)}, ${valid(body)}`],
    ["not ASCII", (body) => `${valid(body).slice(0, -1)}\u00e9`],
    ["12 kB", () => `sha256=${"a".repeat(12_000)}`],
  ])("a signature header %s is answered 401 and keeps nothing", async (_name, header) => {
    const event = eventOf();
    const response = await api.deliver(event, { "x-signature": header(JSON.stringify(event)) });
    expect(response.status).toBe(401);
    expect(await entriesOf(event.user_tg_id)).toEqual([]);
  });

  test("a missing or repeated signature header is answered 401", async () => {
    const event = JSON.stringify(eventOf());
    const send = (signatures: string[]) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { "content-type": "application/json", "x-signature": signatures };
        const request = httpRequest(`${api.url}/webhooks/ads`, { method: "POST", headers }, (response) => {
          response.resume().once("end", () => resolve(response.statusCode));
        });
        request.once("error", reject).end(event);
      });
    expect(await send([])).toBe(401);
    expect(await send([valid(event), valid(event)])).toBe(401);
  });

  test("any changed byte and any invented header is refused", async () => {
    const body = JSON.stringify(eventOf());
    await fc.assert(
      fc.asyncProperty(fc.nat(body.length - 1), fc.integer({ min: 1, max: 127 }), async (place, flip) => {
        const bytes = Buffer.from(body);
        bytes[place] = (bytes[place] ?? 0) ^ flip;
        const headers = { "content-type": "application/json", "x-signature": valid(body) };
        const response = await fetch(`${api.url}/webhooks/ads`, { method: "POST", body: bytes, headers });
        expect(response.status).toBe(401);
      }),
      { numRuns: 50 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((n) => String.fromCharCode(n)) }),
        async (header) => {
          expect((await api.deliver(body, { "x-signature": header })).status).toBe(401);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("Standard Webhooks headers, if present, must be valid too", async () => {
    const event = eventOf();
    const body = JSON.stringify(event);
    const headersAt = (secondsAgo: number) => ({
      ...signStandardWebhook({
        id: event.event_id,
        timestampSeconds: Math.floor(Date.now() / 1000) - secondsAgo,
        body: Buffer.from(body),
        tokens: [testToken],
      }),
    });
    expect((await api.deliver(body, headersAt(301))).status).toBe(401);
    expect((await api.deliver(body, headersAt(-302))).status).toBe(401);
    expect((await api.deliver(body, { "webhook-attempt": "1" })).status).toBe(401);
    expect((await api.deliver(body, { ...headersAt(0), "webhook-id": "evt_other" })).status).toBe(401);
    expect(await entriesOf(event.user_tg_id)).toEqual([]);
    expect((await api.deliver(body, headersAt(0))).status).toBe(200);
  });

  test.each([
    ["not JSON", "event=rewarded", 400],
    ["JSON of another shape", '{"event":"rewarded","user_tg_id":42,"event_id":"evt_x"}', 400],
    ["an unknown event", '{"event":"clicked","user_tg_id":"42","event_id":"evt_x"}', 400],
    ["a byte order mark", '\u{feff}{"event":"rewarded","user_tg_id":"42","event_id":"evt_x"}', 400],
    ["U+0000 in an id", '{"event":"rewarded","user_tg_id":"42","event_id":"evt_\\u0000"}', 400],
    [
      "a moment that is not in the calendar",
      '{"event":"rewarded","user_tg_id":"42","event_id":"evt_y0","occurred_at":"0000-01-01T00:00:00Z"}',
      200,
    ],
    [
      "a moment a day in the future",
      '{"event":"rewarded","user_tg_id":"42","event_id":"evt_offset","occurred_at":"2026-03-01T10:00:00+23:59"}',
      200,
    ],
    [
      "the last possible moment",
      '{"event":"rewarded","user_tg_id":"42","event_id":"evt_last","occurred_at":"9999-12-31T23:59:59.999-23:59"}',
      200,
    ],
    ["nothing", "", 400],
  ])("a signed body that is %s gets the answer for its case", async (_name, body, status) => {
    expect((await api.deliver(body)).status).toBe(status);
  });

  test("a body over 64 kB is answered 413, another content type 415", async () => {
    expect((await api.deliver({ ...eventOf(), padding: "x".repeat(65_536) })).status).toBe(413);
    expect((await api.deliver(eventOf(), { "content-type": "text/plain" })).status).toBe(415);
    expect((await api.deliver(eventOf(), { "content-type": "application/json; charset=utf-8" })).status).toBe(200);
  });

  test("another bot's webhook is refused, by header or by body, although the signature is valid", async () => {
    const event = eventOf();
    expect((await api.deliver(event, { "x-bot-id": "7000000002" })).status).toBe(403);
    expect((await api.deliver({ ...event, bot_id: "7000000002" })).status).toBe(403);
    expect(await entriesOf(event.user_tg_id)).toEqual([]);
    expect((await api.deliver(event, { "x-bot-id": testConfig.botId })).status).toBe(200);
  });

  test("a fault of this server is answered 503 with Retry-After, and the same webhook is recorded later", async () => {
    const broken = await openTestDatabase({ schema: "api", migrations });
    const failing = await startTestApi(broken.database);
    await broken.dispose();
    const event = eventOf();
    const response = await failing.deliver(event);
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    await failing.stop();
    expect((await api.deliver(event)).status).toBe(200);
    expect(await entriesOf(event.user_tg_id)).toEqual([10]);
  });
});
