import { statsResponse } from "@intermission/ad-core/client-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, type ClientFixture, expectError, openClientFixture } from "../../test/fixtures/client-fixture.ts";
import { type Fact, insertBotsAndCampaigns, insertFacts, rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";

describe("a publisher's statistics", () => {
  let fixture: ClientFixture;
  beforeAll(async () => {
    fixture = await openClientFixture();
    fixture.clock.now = new Date("2026-03-01T18:30:00Z");
    await insertBotsAndCampaigns(fixture.database);
    const at = (hour: number) => ({ botId: fixture.bot.botId, hour, second: 7 });
    const own: Fact[] = [
      { kind: "request", ...at(9), outcome: "filled", campaignId: "cmp_a" },
      { kind: "request", ...at(9), outcome: "no-ad", campaignId: null },
      { kind: "milestone", ...at(9), milestone: "start", campaignId: "cmp_a" },
      { kind: "milestone", ...at(10), milestone: "complete", campaignId: "cmp_a" },
      { kind: "event", ...at(10), format: "rewarded", campaignId: "cmp_a", priceMicros: 2501 },
      { kind: "event", ...at(17), format: "direct_link", campaignId: "cmp_b", priceMicros: 999 },
      { kind: "refusal", ...at(17), reason: "machine-crawler" },
    ];
    const others: Fact[] = own.map((fact) => ({ ...fact, botId: "999" }));
    await fixture.database.transaction((tx) => insertFacts(tx, [...own, ...others]));
    await rollUpUntilNow(fixture.database);
  });
  afterAll(() => fixture.close());

  async function read(query: string) {
    const response = await fixture.get(`/stats${query}`);
    expect(response.status).toBe(200);
    return statsResponse.strict().parse(await response.json());
  }

  test("cover the caller's bot only, in its share, with a line for each day, also for days without events", async () => {
    const { currency, rows, total, deliveries, counted_until, from, to } = await read("");
    expect({ currency, from, to }).toEqual({
      currency: "USD",
      from: "2026-02-23T00:00:00.000Z",
      to: "2026-03-01T19:00:00.000Z",
    });
    expect(rows.map(({ key }) => key)).toEqual([
      "2026-02-23",
      "2026-02-24",
      "2026-02-25",
      "2026-02-26",
      "2026-02-27",
      "2026-02-28",
      "2026-03-01",
    ]);
    expect(rows[0]).toMatchObject({ requests: 0, fill_rate: null, ecpm_micros: null });
    const numbers = {
      requests: 2,
      fills: 1,
      fill_rate: 0.5,
      starts: 1,
      completions: 1,
      completion_rate: 1,
      rewards: 1,
      // The shares of the fixture: 70 % of 2501 and 55 % of 999, each rounded down.
      clicks: 1,
      clicks_refused: { "machine-crawler": 1 },
      revenue_micros: 1750 + 549,
      ecpm_micros: 1_750_000,
    };
    expect(rows[6]).toMatchObject(numbers);
    expect(total).toMatchObject(numbers);
    expect(total).not.toHaveProperty("spend_micros");
    expect(deliveries).toEqual({ delivered: 2, under_way: 0, failed: 0, success_rate: 1 });
    expect(Date.parse(counted_until ?? "")).toBeGreaterThan(0);
  });

  test("are by the days and hours of any zone", async () => {
    const days = await read("?time_zone=Pacific/Kiritimati&from=2026-03-01T08:00:00Z");
    expect(days.rows).toMatchObject([
      { key: "2026-03-01", starts: 1, completions: 0 },
      { key: "2026-03-02", starts: 0, completions: 1, clicks: 1 },
    ]);
    const hours = await read("?time_zone=Asia/Kathmandu&by=hour&from=2026-03-01T09:00:00Z&to=2026-03-01T09:15:00Z");
    expect(hours.from).toBe("2026-03-01T08:15:00.000Z");
    expect(hours.rows).toMatchObject([{ key: "2026-03-01T14:00:00+05:45", starts: 1 }]);
  });

  test("are split by hour and by campaign", async () => {
    const hours = await read("?by=hour&from=2026-03-01T09:00:00Z&to=2026-03-01T11:00:00Z");
    expect(hours.rows).toMatchObject([
      { key: "2026-03-01T09:00:00Z", starts: 1, completions: 0 },
      { key: "2026-03-01T10:00:00Z", starts: 0, completions: 1, revenue_micros: 1750 },
    ]);
    const campaigns = await read("?by=campaign&from=2026-03-01");
    expect(campaigns.rows).toMatchObject([
      { key: "cmp_a", rewards: 1, requests: 1 },
      { key: "cmp_b", clicks: 1 },
      { key: "", requests: 1, clicks_refused: { "machine-crawler": 1 } },
    ]);
  });

  test.each([
    ["an invalid time", "?from=yesterday"],
    ["an end before the start", "?from=2026-03-02&to=2026-03-01"],
    ["hours of a year", "?by=hour&from=2025-03-01"],
    ["another bot's split", "?by=bot"],
  ])("%s is refused with a reason", async (_name, query) => {
    await expectError(await fixture.get(`/stats${query}`), 400, "BAD_REQUEST");
  });

  test("are not returned without a token", async () => {
    await expectError(await fixture.get("/stats", bearer("ad_none")), 401, "UNAUTHORIZED");
  });
});
