import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { allMigrations } from "../migrations/all-migrations.ts";
import { rollUpUntilNow } from "../statistics/facts-stage.ts";
import { readStatistics } from "../statistics/read-statistics.ts";
import { newAddress, openDirectLinkStage } from "./direct-link-stage.ts";
import { directLinkRoutes } from "./routes.ts";

const tap = { method: "POST" as const, headers: { "sec-fetch-site": "same-origin" } };

describe.each(testDatabases())("clicks from one address, on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;
  let stage: Awaited<ReturnType<typeof openDirectLinkStage>>;

  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations: allMigrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => stage.close());

  test("a thousand in a day by a machine that follows links: 25 count, the others are asked for a tap", async () => {
    stage = await openDirectLinkStage(store.database, directLinkRoutes);
    const address = newAddress();
    // To midnight: the keys under which addresses are known are those of a day.
    stage.advance(12 * 3600);
    const statuses = new Map<number, number>();
    for (let click = 0; click < 1000; click++) {
      const { status } = await stage.visit(await stage.issue(`8${click}`), { address });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      stage.advance(86);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: 975, 302: 25 });
    expect(await stage.events()).toHaveLength(25);
    expect(await stage.refusals()).toEqual({ "tap-asked-address": 975 });
  }, 60_000);

  test("fifty people behind one address are all paid, with a tap where they come too close together", async () => {
    stage = await openDirectLinkStage(store.database, directLinkRoutes);
    const address = newAddress();
    for (let person = 0; person < 50; person++) {
      const code = await stage.issue(`9${person}`);
      const { status, body } = await stage.visit(code, { address });
      if (status === 200) {
        expect(body).toContain(`action="/${code}"`);
        expect((await stage.visit(code, { ...tap, address })).status).toBe(303);
      }
      stage.advance(7);
    }
    expect(await stage.events()).toHaveLength(50);
    expect(await stage.charges()).toHaveLength(50);
    expect(new Set((await stage.viewers()).map(({ earned_today }) => earned_today))).toEqual(new Set([1]));
  });

  test("above the operator's setting nothing counts; the visitor is told so and may go on, other addresses count", async () => {
    stage = await openDirectLinkStage(store.database, directLinkRoutes, { mostDailyClicksPerAddress: 30 });
    const address = newAddress();
    stage.advance(12 * 3600);
    for (let click = 0; click < 30; click++) {
      expect((await stage.visit(await stage.issue(`6${click}`), { ...tap, address })).status).toBe(303);
    }
    for (const visit of [{ address }, { ...tap, address }]) {
      const code = await stage.issue("699");
      const { status, headers, body } = await stage.visit(code, visit);
      expect(status).toBe(429);
      expect(headers).toMatchObject({ "cache-control": "no-store", "x-robots-tag": "noindex, nofollow" });
      expect(body).toContain(`href="https://shop.test/p?c=clk_`);
      expect(body).toContain(`&amp;code=${code}&amp;`);
      expect(body).not.toContain("<form");
    }
    expect(await stage.events()).toHaveLength(30);
    expect(await stage.charges()).toHaveLength(30);
    const refused = (await stage.clicks()).filter(({ outcome }) => outcome !== "counted");
    expect(refused.map(({ outcome }) => outcome)).toEqual(["address-limit", "address-limit"]);
    await rollUpUntilNow(store.database);
    const days = { from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-04T00:00:00Z"), by: "day" as const };
    const { total } = await readStatistics(store.database, { botId: stage.botId, ...days });
    expect(total).toMatchObject({ clicks: 30, clicksRefused: { "address-limit": 2 } });

    expect((await stage.visit(await stage.issue("699"))).status, "of another address").toBe(302);
    stage.advance(24 * 3600);
    expect((await stage.visit(await stage.issue("699", "tomorrow"), { address })).status, "a day later").toBe(302);
  });

  test("a machine that can tap, too, earns for each user no more than the daily cap", async () => {
    stage = await openDirectLinkStage(store.database, directLinkRoutes, { dailyCap: 5 });
    const address = newAddress();
    for (let click = 0; click < 40; click++) {
      await stage.visit(await stage.issue(`7${click % 2}`, `order ${click}`), { ...tap, address });
    }
    expect(await stage.events()).toHaveLength(10);
  });
});
