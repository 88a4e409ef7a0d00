import { connect } from "node:net";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestApi, type TestApi, testConfig, testToken } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

const event = { event: "rewarded", user_tg_id: "42", event_id: "evt_1", code: "code1", bot_id: testConfig.botId };
const tables = ["receipts", "codes", "ledger_entries", "balances", "daily_rewards"];

describe("refused webhooks", () => {
  let store: TestDatabase;
  let api: TestApi;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    api = await startTestApi(store.database);
  });
  beforeEach(async () => {
    await refusals();
    await rows("truncate refused_webhooks, receipts, ledger_entries, balances");
  });
  afterAll(async () => {
    await api.stop();
    await store.dispose();
  });

  const rows = <Row>(text: string) => store.database.run<Row>({ name: `test ${text}`.slice(0, 60), text }, []);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const refusals = async () =>
    Object.fromEntries(
      (await api.client().receipts.refused.query({ since })).map(({ reason, refused }) => [reason, refused]),
    );
  const kept = async () => {
    const counts = await Promise.all(tables.map((table) => rows<{ n: number }>(`select count(*) as n from ${table}`)));
    return counts.reduce((sum, [row]) => sum + (row?.n ?? 0), 0);
  };
  const receipts = (query: Parameters<ReturnType<TestApi["client"]>["receipts"]["list"]["query"]>[0] = {}) =>
    api.client().receipts.list.query(query);
  const post = (body: string | Uint8Array, headers: Record<string, string>) =>
    fetch(`${api.url}/webhooks/ads`, { method: "POST", body: Buffer.from(body), headers });
  const signed = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    post(body, { "content-type": "application/json", "x-signature": sign(Buffer.from(body), testToken), ...headers });

  test("of unsigned webhooks only their number and the reason of the refusal are kept", async () => {
    const before = await kept();
    const body = JSON.stringify(event);
    const json = { "content-type": "application/json" };
    const good = sign(Buffer.from(body), testToken);
    const answers = [
      await post(body, json),
      await post(body, { ...json, "x-signature": "" }),
      await post(body, { ...json, "x-signature": good.toUpperCase() }),
      await post(body, { ...json, "x-signature": sign(Buffer.from("{}"), testToken) }),
      await post(`${body}\n`, { ...json, "x-signature": good }),
      await post(body, { ...json, "x-signature": good, "webhook-id": "evt_1" }),
      await post(body, { "content-type": "text/plain", "x-signature": good }),
      await post(new Uint8Array(Buffer.from(body)), { "x-signature": good }),
      await signed(body.padEnd(64 * 1024 + 1)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401, 415, 415, 413]);
    expect(await kept()).toBe(before);
    expect(await refusals()).toEqual({
      "missing-signature": 1,
      "malformed-signature": 2,
      "wrong-signature": 2,
      "wrong-webhook-signature": 1,
      "wrong-content-type": 2,
      "too-large": 1,
    });
    await post(body, json);
    expect(await refusals()).toMatchObject({ "missing-signature": 2, "too-large": 1 });
    expect(await rows("select hour from refused_webhooks")).toHaveLength(6);
  });

  test("the answer and the first line of a minute name the fault, for a clock with its seconds, and nothing is kept", async () => {
    const lines: string[] = [];
    const logging = await startTestApi(store.database, {}, undefined, { log: (line) => lines.push(line) });
    const before = await kept();
    const body = Buffer.from(JSON.stringify(event));
    const send = async (headers: Record<string, string>, bytes: Buffer = body) => {
      const all = { "content-type": "application/json", ...headers };
      const response = await fetch(`${logging.url}/webhooks/ads`, { method: "POST", body: bytes, headers: all });
      return { status: response.status, body: await response.json() };
    };
    const signedAt = (secondsFromNow: number, token = testToken) => {
      const timestampSeconds = Math.floor(Date.now() / 1000) + secondsFromNow;
      const standard = signStandardWebhook({ id: "evt_1", timestampSeconds, body, tokens: [token] });
      return { "x-signature": sign(body, token), ...standard };
    };
    const cases: [Awaited<ReturnType<typeof send>>, object, RegExp][] = [
      [await send({}), { fault: "missing-signature" }, /X-Signature is missing/],
      [
        await send(signedAt(-600)),
        { fault: "stale", seconds: expect.closeTo(600, -1) },
        /sent 60\d s ago by the clock of this machine.*NTP/,
      ],
      [
        await send(signedAt(600)),
        { fault: "future", seconds: expect.closeTo(600, -1) },
        /(59\d|600) s in the future by the clock of this machine.*NTP/,
      ],
      [await send(signedAt(0, "ad_other_token")), { fault: "wrong-signature", cause: "unknown" }, /another token/],
      [
        await send(signedAt(0), Buffer.from(JSON.stringify(event, undefined, 1))),
        { fault: "wrong-signature", cause: "changed-body" },
        /raw bytes/,
      ],
    ];
    for (const [{ status, body: answered }, details, words] of cases) {
      expect(status).toBe(401);
      expect(answered).toEqual({ error: { code: "BAD_SIGNATURE", message: expect.stringMatching(words), details } });
    }
    for (let count = 0; count < 100; count++) await send(signedAt(-600));
    expect(await kept()).toBe(before);
    const refused = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /refused/.test(msg));
    // The last two have the same reason, and different causes: a forged webhook hides no other.
    const reasons = ["missing-signature", "stale", "future", "wrong-signature", "wrong-signature"];
    expect(refused.map(({ reason }) => reason)).toEqual(reasons);
    expect(refused[1].msg).toMatch(/60\d s ago by the clock of this machine/);
    expect(lines.join("\n")).not.toContain(testToken);
    await logging.stop();
  });

  test("counts older than 30 days are removed", async () => {
    await rows(
      `insert into refused_webhooks values ('${testConfig.botId}', now() - interval '31 days', 'old', 1, now())`,
    );
    await post("{}", { "content-type": "application/json" });
    await refusals();
    expect(await rows("select reason from refused_webhooks")).toEqual([{ reason: "missing-signature" }]);
  });

  test("a megabyte of headers is refused before any of it is read, and the server continues", async () => {
    const before = await kept();
    const port = Number(new URL(api.url).port);
    const answer = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connect(port, "127.0.0.1", () => {
        const head =
          "POST /webhooks/ads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n";
        socket.write(`${head}x-signature: sha256=${"a".repeat(1_000_000)}\r\n\r\n{}`);
      });
      socket.on("data", (chunk) => {
        text += chunk;
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1.1 4\d\d |^$/);
    expect(await kept()).toBe(before);
    expect((await signed(JSON.stringify(event))).status).toBe(200);
  });

  test("64 kB are read, not a byte more, with or without a content length", async () => {
    const body = JSON.stringify({ ...event, event_id: "evt_long", code: undefined });
    expect((await signed(body.padEnd(64 * 1024))).status).toBe(200);
    const streamed = body.padEnd(64 * 1024 + 1);
    const headers = { "content-type": "application/json", "x-signature": sign(Buffer.from(streamed), testToken) };
    const init = { method: "POST", headers, body: new Blob([streamed]).stream(), duplex: "half" } as const;
    expect((await fetch(`${api.url}/webhooks/ads`, init)).status).toBe(413);
  });

  test.each<[string, string | Uint8Array, number, string]>([
    ["not JSON", "event=rewarded", 400, "not JSON"],
    ["empty", "", 400, "not JSON"],
    ["behind a byte order mark", `\u{feff}${JSON.stringify(event)}`, 400, "not JSON"],
    ["in UTF-16", Buffer.from(JSON.stringify(event), "utf16le"), 400, "JSON"],
    ["not UTF-8", Buffer.from(JSON.stringify(event), "utf8").fill(0xff, 0, 4), 400, "UTF-8"],
    ["of another shape", '{"event":"rewarded","user_tg_id":42}', 400, "user_tg_id"],
    ["a list", "[]", 400, "body"],
    ["with U+0000 in its code", JSON.stringify({ ...event, code: "a\0" }), 400, "U+0000"],
    [
      "with half a surrogate pair in its id",
      '{"event":"rewarded","user_tg_id":"1","event_id":"\\ud800"}',
      400,
      "surrogate",
    ],
    ["another bot's", JSON.stringify({ ...event, bot_id: "7000000002" }), 403, "another bot"],
  ])(
    "a signed body that is %s is kept as invalid with the reason, once, however often it arrives",
    async (_what, body, status, reason) => {
      for (let count = 0; count < 3; count++) expect((await signed(body)).status).toBe(status);
      expect(await receipts()).toEqual([
        {
          outcome: "invalid",
          reason: expect.stringContaining(reason),
          event: null,
          userId: null,
          code: null,
          amount: null,
          revenueMicros: null,
          currency: null,
          duplicates: 2,
          lastDuplicateAt: expect.any(String),
          verified: true,
          receivedAt: expect.any(String),
          eventId: expect.stringMatching(/^invalid:[0-9a-f]{64}$/),
          rawBody: expect.any(String),
          signatureHeader: expect.stringMatching(/^sha256=/),
        },
      ]);
      expect(await api.client().receipts.latest.query({})).toEqual([]);
    },
  );

  test("only the beginning of an invalid body is kept", async () => {
    expect((await signed("\u{1F600}\0".repeat(10_000))).status).toBe(400);
    const [receipt] = await receipts();
    expect(receipt?.rawBody).toMatch(/^\u{1F600}{2048}$/u);
  });

  test("for any signed bytes the answer is one of four, and the server continues", async () => {
    const field = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom("rewarded", "direct_link", "42", "0", "2026-03-01T10:00:00Z"),
    );
    const names = fc.constantFrom(
      "event",
      "user_tg_id",
      "event_id",
      "code",
      "reference",
      "occurred_at",
      "test",
      "bot_id",
    );
    const almost = fc
      .dictionary(names, field)
      .map((fields) => Buffer.from(JSON.stringify({ ...event, event_id: "evt_fuzz", ...fields })));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
      almost,
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        expect([200, 400, 403]).toContain((await signed(body)).status);
      }),
      { numRuns: 150, interruptAfterTimeLimit: 10_000 },
    );
  });

  test("receipts are found by outcome, user, time and number", async () => {
    await signed(JSON.stringify({ ...event, event_id: "evt_a", user_tg_id: "101", code: "codeA" }));
    await signed(JSON.stringify({ ...event, event_id: "evt_b", user_tg_id: "102", code: "codeA" }));
    for (let count = 0; count < 2; count++) await signed('{"event":"direct_link","user_tg_id":"101"}');
    await signed("{}");
    const found = async (query: Parameters<typeof receipts>[0]) =>
      (await receipts(query)).map(({ outcome, reason, userId }) => [outcome, reason, userId]);
    const credited = ["credited", null, "101"];
    const refused = ["refused", "code-of-another-user", "102"];
    const unmatched = ["unmatched", "no-event-id", "101"];
    const invalid = ["invalid", expect.stringContaining("event"), null];
    expect(await found({})).toEqual([invalid, unmatched, refused, credited]);
    expect(await found({ limit: 2 })).toEqual([invalid, unmatched]);
    expect(await found({ outcome: "credited" })).toEqual([credited]);
    expect(await found({ outcome: "refused" })).toEqual([refused]);
    expect(await found({ outcome: "unmatched" })).toEqual([unmatched]);
    expect(await found({ outcome: "invalid" })).toEqual([invalid]);
    expect(await found({ outcome: "duplicate" })).toEqual([unmatched]);
    expect(await found({ userId: "101" })).toEqual([unmatched, credited]);
    expect(await found({ userId: "101", outcome: "credited" })).toEqual([credited]);
    expect(await found({ since: new Date(Date.now() + 3_600_000).toISOString() })).toEqual([]);
    expect(await found({ since })).toHaveLength(4);
  });
});
