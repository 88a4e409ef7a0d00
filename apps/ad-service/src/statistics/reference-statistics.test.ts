import { referenceStatsResponse } from "@intermission/ad-core/client-api";
import { statement } from "@intermission/postgres/open-database";
import { createAds } from "@intermission/publisher";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientFixture, openClientFixture } from "../../test/fixtures/client-fixture.ts";
import { readReferenceStatistics } from "./reference-statistics.ts";

const insert = statement<never>(
  "test.insert-referenced",
  `insert into events (event_id, code, bot_id, user_id, campaign_id, event, reference, price_micros, revenue_micros, occurred_at)
   select 'evt_' || gen_random_uuid(), gen_random_uuid(), $1, $2, 'cmp', $3, $4, $5::bigint, $5::bigint * 7 / 10, $6`,
);
const refundOne = statement<never>(
  "test.refund",
  `insert into refunds (event_id, bot_id, campaign_id, event, price_micros, revenue_micros, charged_at, occurred_at)
   select event_id, bot_id, campaign_id, event, price_micros, revenue_micros, occurred_at, '2026-03-09' from events
   where bot_id = $1 and reference = $2`,
);

describe("a publisher's statistics of references", () => {
  let fixture: ClientFixture;
  beforeAll(async () => {
    fixture = await openClientFixture();
    fixture.clock.now = new Date("2026-03-03T18:30:00Z");
    const earn = (user: string, reference: string | null, at: string, { event = "rewarded", price = 1000 } = {}) =>
      fixture.database.run(insert, [fixture.bot.botId, user, event, reference, price, `2026-03-${at}Z`]);
    await earn("1", "shop-5", "01T09:00");
    await earn("1", "shop-5", "03T09:15");
    await earn("2", "shop-10", "03T09:59", { price: 5001 });
    await earn("3", "shop-10", "03T10:00", { event: "direct_link", price: 500 });
    await earn("4", "Shop-5", "03T10:00");
    await earn("4", "shop", "03T10:00");
    await earn("4", "100%_🎁", "03T10:00");
    await earn("4", null, "03T10:00");
    await fixture.database.run(insert, ["999", "9", "rewarded", "shop-5", 1000, "2026-03-03T10:00Z"]);
    await earn("5", "late-1", "03T11:00");
    await earn("5", "late-2", "03T11:00");
    await fixture.database.run(refundOne, [fixture.bot.botId, "late-2"]);
  });
  afterAll(() => fixture.close());

  const read = async (query: string) => {
    const response = await fixture.get(`/stats?${query}`);
    expect(response.status).toBe(200);
    return referenceStatsResponse.strict().parse(await response.json());
  };

  test("count what codes of a prefix earned, in the caller's share, by reference, hour and day", async () => {
    const byReference = await read("reference_prefix=shop-&by=reference");
    expect(byReference).toMatchObject({ currency: "USD", by: "reference", reference_prefix: "shop-" });
    expect(byReference.rows).toEqual([
      { key: "shop-10", rewards: 1, clicks: 1, users: 2, refunds: 0, revenue_micros: 3500 + 350 },
      { key: "shop-5", rewards: 2, clicks: 0, users: 1, refunds: 0, revenue_micros: 1400 },
    ]);
    expect(byReference.total).toEqual({ rewards: 3, clicks: 1, users: 3, refunds: 0, revenue_micros: 5250 });
    expect((await read("reference_prefix=shop-")).rows.map(({ key, rewards }) => [key, rewards])).toEqual([
      ["2026-03-01", 1],
      ["2026-03-03", 2],
    ]);
    const hours = await read("reference_prefix=shop-&by=hour&from=2026-03-03T09:00:00Z&to=2026-03-03T10:00:00Z");
    expect(hours.rows).toMatchObject([{ key: "2026-03-03T09:00:00Z", rewards: 2, clicks: 0, users: 2 }]);
  });

  test("are by the days and hours of any zone", async () => {
    const keys = async (query: string) =>
      (await read(`reference_prefix=shop-&from=2026-03-01&${query}`)).rows.map(({ key, rewards }) => [key, rewards]);
    expect(await keys("time_zone=Pacific/Kiritimati&to=2026-03-04")).toEqual([
      ["2026-03-01", 1],
      ["2026-03-03", 2],
      ["2026-03-04", 0],
    ]);
    expect(await keys("time_zone=Asia/Kathmandu&by=hour&to=2026-03-04")).toEqual([
      ["2026-03-01T14:00:00+05:45", 1],
      ["2026-03-03T15:00:00+05:45", 2],
    ]);
  });

  test("know prefixes with any characters, none, and all references", async () => {
    const keys = async (query: string) => (await read(`${query}&by=reference`)).rows.map(({ key }) => key).sort();
    expect(await keys(`reference_prefix=${encodeURIComponent("100%_")}`)).toEqual(["100%_🎁"]);
    expect(await keys(`reference_prefix=${encodeURIComponent("100%_🎁")}`)).toEqual(["100%_🎁"]);
    expect(await keys("reference_prefix=_")).toEqual([]);
    expect(await keys("reference_prefix=SHOP")).toEqual([]);
    const all = ["100%_🎁", "Shop-5", "late-1", "late-2", "shop", "shop-10", "shop-5"];
    expect(await keys("reference_prefix=")).toEqual(all);
    expect(await keys("")).toEqual(all);
  });

  test("subtract refunded events wherever they were refunded later", async () => {
    const { total } = await read("reference_prefix=late");
    expect(total).toEqual({ rewards: 2, clicks: 0, users: 1, refunds: 1, revenue_micros: 700 });
  });

  test("are the same for the TypeScript client", async () => {
    const { token, botId } = fixture.bot;
    const ads = createAds({ url: fixture.address, token, botId });
    const period = { from: "2026-03-01", to: "2026-03-04" };
    expect((await ads.referenceStats("shop-", { ...period, by: "reference" })).total.revenue_micros).toBe(5250);
  });

  test("refuse to read more events than the maximum, whatever the references are", async () => {
    const question = { botId: fixture.bot.botId, from: new Date("2026-03-01"), to: new Date("2026-03-04") };
    const upTo = (prefix: string, most: number) =>
      readReferenceStatistics(fixture.database, { ...question, prefix, by: "day" }, most);
    expect(await upTo("shop-", 4)).toMatchObject({ outcome: "read" });
    expect(await upTo("shop-", 3)).toEqual({ outcome: "too-many" });
    expect(await upTo("", 4)).toEqual({ outcome: "too-many" });
  });

  test.each([
    ["by=campaign&reference_prefix=shop", /^by must be hour, day or reference with reference_prefix, not campaign$/],
    ["by=references", /by/],
    ["time_zone=Berlin", /^time_zone: must be a time zone such as Europe\/Berlin, or UTC$/],
    ["reference_prefix=a%00b", /^reference_prefix: must not contain U\+0000$/],
    [`reference_prefix=${"x".repeat(129)}`, /^reference_prefix: .*128/],
    ["reference_prefix=shop&by=hour&from=2025-01-01", /^from must be at most 31 days before the end, by hour$/],
    ["reference_prefix=shop&from=2024-01-01", /^from must be at most 400 days before the end, by day$/],
  ])("%s is refused with the reason", async (query, message) => {
    const response = await fixture.get(`/stats?${query}`);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(message);
  });
});
