import { randomBytes } from "node:crypto";
import { codeWeekAt, newClickId, timeOfClick } from "@intermission/ad-core/code";
import { openSessionResponse } from "@intermission/ad-core/player-api";
import type { ConversionRefusal } from "@intermission/operator-api/conversions";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { issuePostbackKey, rememberAdvertiser } from "../src/advertisers/advertisers.ts";
import { listConversions, sumConversionRefusals, sumConversions } from "../src/conversions/read-conversions.ts";

import { reverseConversion } from "../src/conversions/reverse-conversion.ts";
import { migrations } from "../src/migrations.ts";
import { rollUpUntilNow } from "./fixtures/facts-fixture.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";

const agent = {
  "user-agent": "Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36",
  "accept-language": "en",
};

const insertClick = statement<never>(
  "test.insert-own-click",
  `insert into events (bot_id, event_id, event, user_id, code, campaign_id, price_micros, revenue_micros, occurred_at)
   values ($1, 'evt_' || substr($2, 5), 'direct_link', '1', $2, 'cmp_1', $3, $3::bigint * 7 / 10, now())`,
);
const insertWithheld = statement<never>(
  "test.insert-withheld-click",
  `insert into withheld_clicks (bot_id, click_id, code, user_id, campaign_id, outcome, occurred_at)
   values ($1, $2, $4 || substr($2, 5), '1', 'cmp_1', $3, now())`,
);

describe("postbacks of advertisers", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openVastFixture>>;
  let clickId: string;
  let key: string;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openVastFixture(store.database);
    clickId = await click();
    key = await keyOf("Intermission");
  });
  afterEach(() => fixture.close());

  /** A user watched the house ad and clicked its CTA. */
  async function click(): Promise<string> {
    const opened = openSessionResponse.parse((await fixture.open("1001")).body);
    if (opened.outcome !== "session" || !opened.ad.call_to_action) throw new Error("nothing to tap");
    await fixture.report(opened, { started: true });
    await fetch(opened.ad.call_to_action.url.replace("http://ads.test", fixture.address), {
      redirect: "manual",
      headers: agent,
    });
    const [click] = await ask<{ click_id: string }>("select click_id from cta_clicks where bot_id = $1", fixture.botId);
    if (!click) throw new Error("the click was not recorded");
    return click.click_id;
  }

  const ask = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);
  const sums =
    "select campaign_id, conversions, spend_micros from stats_sums where bot_id = $1 and span = 'quarter' and conversions <> 0";

  async function keyOf(advertiser: string): Promise<string> {
    const { advertiserId } = await store.database.transaction((tx) => rememberAdvertiser(tx, advertiser));
    return issuePostbackKey(store.database, { advertiserId });
  }

  const sumOfAll = "select sum(conversions)::integer as count from stats_sums where bot_id = $1 and span = 'day'";

  /** Of the fixture's bot; the refusals are those of all tests. */
  async function readSums() {
    await rollUpUntilNow(store.database);
    const now = fixture.clock.now.getTime();
    const [from, to] = [new Date(now - 86_400_000), new Date(now + 86_400_000)];
    const refused = await sumConversionRefusals(store.database, { from, to });
    return { sums: await sumConversions(store.database, { botId: fixture.botId, from, to }), refused };
  }

  const stored = () =>
    ask<{ campaign_id: string; creative_id: string | null }>(
      "select * from conversions where bot_id = $1 order by event",
      fixture.botId,
    );

  async function postback(fields: Record<string, string>, init?: RequestInit) {
    const response = await fetch(`${fixture.address}/postback/v1/conversions?${new URLSearchParams(fields)}`, init);
    return { status: response.status, body: (await response.json()) as { outcome?: string; error?: { code: string } } };
  }

  test.each([
    ["U+0000", "a\0b"],
    ["half a surrogate pair, which would become the same text as another", "a\ud800"],
  ])("an id or event with %s is refused, and named", async (_what, text) => {
    for (const field of ["conversion_id", "event"]) {
      const body = JSON.stringify({ click_id: clickId, key, [field]: text });
      const json = { method: "POST", body, headers: { "content-type": "application/json" } };
      const refused = await postback({}, json);
      expect(refused).toMatchObject({ status: 400, body: { error: { code: "BAD_REQUEST" } } });
      expect(JSON.stringify(refused.body)).toContain(`${field}: must be well-formed text without U+0000`);
    }
    expect(await stored()).toEqual([]);
  });

  test("a conversion is recorded once, however often it is reported, by GET or POST", async () => {
    const said = { click_id: clickId, key, event: "purchase", conversion_id: "order-1", value_micros: "4990000" };
    expect(await postback(said)).toEqual({ status: 200, body: { outcome: "recorded" } });
    const again = await Promise.all(Array.from({ length: 8 }, () => postback(said)));
    expect(again.map(({ body }) => body.outcome)).toEqual(Array(8).fill("repeated"));
    const form = { method: "POST", body: new URLSearchParams(said) };
    expect(await postback({}, form)).toMatchObject({ body: { outcome: "repeated" } });
    const json = {
      method: "POST",
      body: JSON.stringify({ ...said, event: "install" }),
      headers: { "content-type": "application/json" },
    };
    expect(await postback({}, json)).toMatchObject({ body: { outcome: "recorded" } });
    expect(await stored()).toMatchObject([
      { click_id: clickId, event: "install", campaign_id: "cmp_1", creative_id: "cre_1", value_micros: 4_990_000 },
      { event: "purchase", conversion_id: "order-1" },
    ]);
  });

  test.each([
    [{ value: "4.99", currency: "EUR" }, 4_990_000],
    [{ value: "4.99", currency: "eur" }, 4_990_000],
    [{ value: "0.000001" }, 1],
    [{ value: "12" }, 12_000_000],
    [{ value: "", currency: "" }, null],
    [{ value: "", value_micros: "70" }, 70],
  ])("an amount in units of the currency is recorded: %j", async (fields, micros) => {
    expect(await postback({ click_id: clickId, key, ...fields })).toMatchObject({ status: 200 });
    expect(await stored()).toMatchObject([{ value_micros: micros }]);
  });

  test.each([
    ["counted", { status: 200, body: { outcome: "recorded" } }],
    ["test", { status: 404 }],
    ["held", { status: 200, body: { outcome: "recorded" } }],
    ["refused", { status: 409, body: { error: { code: "CLICK_REFUSED" } } }],
  ] as const)("a click of a direct link that is %s", async (outcome, expected) => {
    const id = newClickId(Date.now(), randomBytes(10));
    if (outcome === "held" || outcome === "refused")
      await store.database.run(insertWithheld, [
        fixture.botId,
        id,
        outcome,
        codeWeekAt(timeOfClick(id)?.getTime() ?? 0),
      ]);
    else await store.database.run(insertClick, [fixture.botId, id, outcome === "counted" ? 5 : null]);
    expect(await postback({ click_id: id, key })).toMatchObject(expected);
    const campaigns = (await stored()).map(({ campaign_id, creative_id }) => [campaign_id, creative_id]);
    expect(campaigns).toEqual(outcome === "test" || outcome === "refused" ? [] : [["cmp_1", null]]);
  });

  test("a conversion is in the statistics, and moves no money", async () => {
    const before = await fixture.charges();
    await postback({ click_id: clickId, key });
    await rollUpUntilNow(store.database);
    expect(await ask(sums, fixture.botId)).toEqual([{ campaign_id: "cmp_1", conversions: 1, spend_micros: 0 }]);
    expect(await fixture.charges()).toEqual(before);
  });

  test("a forged key, another advertiser's click and a made-up click are refused and counted", async () => {
    const refusals = async (reason: string) => {
      const text = "select count from conversion_refusals where reason = $1";
      return (await ask<{ count: number }>(text, reason))[0]?.count ?? 0;
    };
    const before = [await refusals("unknown-key"), await refusals("unknown-click")];
    const other = await keyOf("Another advertiser");
    expect(await postback({ click_id: clickId, key: `${key}x` })).toMatchObject({ status: 401 });
    expect(await postback({ click_id: clickId, key: other })).toMatchObject({ status: 404 });
    expect(await postback({ click_id: "clk_1", key })).toMatchObject({
      status: 404,
      body: { error: { code: "UNKNOWN_CLICK" } },
    });
    expect(await stored()).toEqual([]);
    expect([await refusals("unknown-key"), await refusals("unknown-click")]).toEqual([
      (before[0] ?? 0) + 1,
      (before[1] ?? 0) + 2,
    ]);
  });

  test("every refused postback is counted by its reason, and the answer names it", async () => {
    const old = newClickId(fixture.clock.now.getTime() - 400 * 86_400_000, randomBytes(10));
    expect(await postback({ click_id: old, key })).toMatchObject({
      status: 410,
      body: { error: { code: "CLICK_TOO_OLD" } },
    });
    expect(await postback({ click_id: clickId, key, value: "1", currency: "JPY" })).toMatchObject({
      status: 400,
      body: { error: { code: "UNKNOWN_CURRENCY" } },
    });
    expect(await postback({ click_id: clickId, key, value: "much" })).toMatchObject({ status: 400 });
    const { refused } = await readSums();
    expect(refused).toMatchObject({ "too-late": 1, "unknown-currency": 1 });
    expect(refused.malformed).toBeGreaterThan(0);
    expect(await stored()).toEqual([]);
  });

  test("installs and purchases are summed apart, and a reversal subtracts its own once", async () => {
    for (const [event, id, value] of [
      ["install", "", ""],
      ["purchase", "order-1", "4.99"],
      ["purchase", "order-2", "10"],
      ["purchase", "order-3", ""],
    ] as const)
      await postback({ click_id: clickId, key, event, conversion_id: id, value, currency: value && "EUR" });
    const { currency } = (await readSums()).sums[0] ?? {};
    expect((await readSums()).sums).toEqual([
      { event: "purchase", currency, conversions: 3, valueMicros: 14_990_000n, reversed: 0, reversedMicros: 0n },
      { event: "install", currency, conversions: 1, valueMicros: 0n, reversed: 0, reversedMicros: 0n },
    ]);
    const wrong = { clickId, event: "purchase", conversionId: "order-2" };
    const outcomes = await Promise.all(
      [1, 2, 3].map(() => reverseConversion(store.database, { ...wrong, now: fixture.clock.now })),
    );
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["reversed", "reversed-before", "reversed-before"]);
    expect((await readSums()).sums[0]).toEqual({
      event: "purchase",
      currency,
      conversions: 2,
      valueMicros: 4_990_000n,
      reversed: 1,
      reversedMicros: 10_000_000n,
    });
    expect(await ask<{ count: number }>(sumOfAll, fixture.botId)).toEqual([{ count: 3 }]);
    // The advertiser's tracker repeats what it sent: a reversed conversion does not come back.
    expect(await postback({ click_id: clickId, key, event: "purchase", conversion_id: "order-2" })).toMatchObject({
      status: 409,
      body: { error: { code: "CONVERSION_REVERSED" } },
    });
    expect(
      await reverseConversion(store.database, { ...wrong, event: "purchas", now: fixture.clock.now }),
    ).toMatchObject({
      outcome: "unknown-conversion",
      recorded: expect.arrayContaining([{ event: "install", conversionId: "" }]),
    });
    const { rows: listed } = await listConversions(store.database, {
      botId: fixture.botId,
      event: "purchase",
      limit: 10,
    });
    expect(listed.map(({ conversionId, reversedAt }) => [conversionId, reversedAt !== null]).sort()).toEqual([
      ["order-1", false],
      ["order-2", true],
      ["order-3", false],
    ]);
  });

  test("the largest values of many conversions add up to the millionth", { tags: "long" }, async () => {
    for (let number = 0; number < 95; number++)
      await postback({ click_id: clickId, key, conversion_id: `${number}`, value_micros: String(10n ** 17n) });
    expect((await readSums()).sums).toMatchObject([{ event: "", conversions: 95, valueMicros: 95n * 10n ** 17n }]);
  });

  test("the database accepts the refusals of postbacks, and no others", async () => {
    const words = {
      "unknown-key": true,
      "unknown-click": true,
      "refused-click": true,
      "too-late": true,
      "too-many": true,
      reversed: true,
      "unknown-currency": true,
      malformed: true,
    } satisfies Record<ConversionRefusal, true>;
    const text = `select pg_get_constraintdef(oid) as definition from pg_constraint
      where contype = 'c' and conrelid = 'conversion_refusals'::regclass`;
    const [row] = await ask<{ definition: string }>(text);
    const accepted = [...(row?.definition ?? "").matchAll(/'([^']*)'/g)].map(([, word]) => word);
    expect(accepted.toSorted()).toEqual(Object.keys(words).toSorted());
  });

  test("a new key voids the previous one, and no key is stored in clear text", async () => {
    const next = await keyOf("Intermission");
    expect(await postback({ click_id: clickId, key })).toMatchObject({ status: 401 });
    expect(await postback({ click_id: clickId, key: next })).toMatchObject({ status: 200 });
    const rows = await ask("select * from advertisers where name = 'Intermission'");
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(next.slice(3));
  });

  test("guessing keys is rate-limited", async () => {
    const guesses = await Promise.all(
      Array.from({ length: 40 }, (_, index) => postback({ click_id: clickId, key: `pb_${index}` })),
    );
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(20);
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test("one click has a hundred conversions at most", { tags: "long" }, async () => {
    const codes: number[] = [];
    for (let number = 0; number < 102; number++)
      codes.push((await postback({ click_id: clickId, key, conversion_id: `${number}` })).status);
    expect(codes.filter((code) => code === 200)).toHaveLength(100);
    expect(codes.slice(-2)).toEqual([409, 409]);
  });

  test.each([
    ["no click", { key: "k" }, /click_id/],
    ["a value of letters", { click_id: "c", key: "k", value_micros: "much" }, /value_micros/],
    ["a value with a point", { click_id: "c", key: "k", value_micros: "4.99" }, /value_micros.*4990000/],
    ["a value in another notation", { click_id: "c", key: "k", value_micros: "0x10" }, /value_micros/],
    ["a negative value", { click_id: "c", key: "k", value_micros: "-1" }, /value_micros.*from 0 to/],
    ["an amount with a comma", { click_id: "c", key: "k", value: "4,99" }, /value: must be an amount.*4\.99/],
    ["an amount in another notation", { click_id: "c", key: "k", value: "0x3" }, /value: must be an amount/],
    ["an amount with its currency", { click_id: "c", key: "k", value: "4.99 EUR" }, /value: must be an amount/],
    ["another currency", { click_id: "c", key: "k", value: "4.99", currency: "JPY" }, /currency: must be EUR/],
    [
      "two values",
      { click_id: "c", key: "k", value: "4.99", value_micros: "4990000" },
      /value and value_micros|value: and/,
    ],
    ["a value of too many digits", { click_id: "c", key: "k", value_micros: "100000000000000001" }, /value_micros/],
  ])("%s is refused with the reason", async (_name, fields, message) => {
    expect(await postback(fields)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(message) } },
    });
  });
});
