import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newAddress, openDirectLinkFixture } from "../../test/fixtures/direct-link-fixture.ts";
import { readReportOf, rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { describeCode } from "../codes/describe-code.ts";
import { migrations } from "../migrations.ts";
import { directLinkRoutes } from "./routes.ts";

const countRows = statement<{ clicks: number }>(
  "test.count-click-rows",
  "select count(*) as clicks from withheld_clicks",
);

describe("refused clicks", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openDirectLinkFixture>>;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  const rows = async () => (await store.database.run(countRows, []))[0]?.clicks ?? -1;
  const describeClicks = async (code: string) => {
    const found = await describeCode(store.database, {
      botId: fixture.botId,
      code,
      now: new Date("2026-03-02T00:00:00Z"),
    });
    return found.outcome === "found" ? found.code.clicks : found.outcome;
  };
  const refusedByHour = async () => {
    const time = { from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-02T00:00:00Z"), by: "hour" as const };
    const { rows: hours, total } = await readReportOf(store.database, { botId: fixture.botId, ...time });
    const withAny = hours.filter(({ figures }) => Object.keys(figures.clicksRefused).length > 0);
    return { total: total.clicksRefused, hours: withAny.map(({ key, figures }) => [key, figures.clicksRefused]) };
  };

  test("each refused visit of a code is counted, and only the first of each reason are kept in full", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const code = await fixture.issue();
    fixture.advance(3600);
    const before = await rows();
    const visitMany = (count: number, headers = {}) =>
      Promise.all(Array.from({ length: count }, (_, index) => fixture.visit(code, { headers }, index % 2)));
    for (const { status } of await visitMany(150)) expect(status).toBe(410);
    await rollUpUntilNow(store.database);
    await visitMany(20, { "user-agent": "curl/8.5.0" });
    await visitMany(30);
    await rollUpUntilNow(store.database);
    fixture.advance(3600);
    await visitMany(7);
    await rollUpUntilNow(store.database);
    await rollUpUntilNow(store.database);

    expect(await describeClicks(code)).toEqual({ expired: 187, "machine-crawler": 20 });
    expect(await refusedByHour()).toEqual({
      total: { expired: 187, "machine-crawler": 20 },
      hours: [
        ["2026-03-01T13:00:00Z", { expired: 180, "machine-crawler": 20 }],
        ["2026-03-01T14:00:00Z", { expired: 7 }],
      ],
    });
    expect((await rows()) - before).toBe(10);
    expect((await fixture.clicks()).map(({ outcome }) => outcome).sort()).toEqual([
      ...Array.from({ length: 5 }, () => "expired"),
      ...Array.from({ length: 5 }, () => "machine-crawler"),
    ]);
  });

  test("a flood from one address gets 429 with a page, and writes nothing", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const code = await fixture.issue();
    const address = newAddress();
    const answers = [];
    for (let batch = 0; batch < 10; batch++) {
      answers.push(...(await Promise.all(Array.from({ length: 20 }, () => fixture.visit(code, { address })))));
    }
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 302).length).toBeLessThanOrEqual(30);
    expect(refused.length).toBeGreaterThanOrEqual(170);
    expect(Number(refused[0]?.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused[0]?.headers["cache-control"]).toBe("no-store");
    expect(refused[0]?.body).toContain("<h1>");
    expect(refused[0]?.body).not.toContain("<form");
    const { used = 0, counted = 0 } = (await describeClicks(code)) as Record<string, number>;
    expect(used + counted).toBe(answers.length - refused.length);
    // Other people, and the same person a little later, are served.
    expect((await fixture.visit(await fixture.issue("502"))).status).toBe(302);
    fixture.advance(60);
    expect((await fixture.visit(code, { address })).status).toBe(302);
  });

  test("an address that tries many codes gets 429; another spelling of it is the same address", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const spellings = ["2001:db8:77:1::1", "2001:DB8:77:1::2", "[2001:db8:77:1::3]:443"];
    const statuses = new Map<number, number>();
    for (let batch = 0; batch < 15; batch++) {
      const visits = Array.from({ length: 50 }, (_, index) => {
        const unknown = `ABCDEFGHJKM${String(100_000 + batch * 50 + index).replaceAll(/[01]/g, "z")}`.slice(0, 16);
        return fixture.visit(unknown, { address: spellings[index % 3] ?? "" });
      });
      for (const { status } of await Promise.all(visits)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses.keys()].sort()).toEqual([404, 429]);
    expect(statuses.get(429)).toBeGreaterThanOrEqual(200);
  });

  test("unknown and malformed codes write nothing", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const known = await fixture.issue();
    const before = await rows();
    for (const code of [`${known.slice(0, 6)}2222222222zz`, "ABCDEFGHJKMNPQRSTU", "halfALink"]) {
      for (const method of ["GET", "HEAD", "POST"] as const)
        expect((await fixture.visit(code, { method })).status).toBe(404);
    }
    expect(await rows()).toBe(before);
    await rollUpUntilNow(store.database);
    expect((await refusedByHour()).total).toEqual({});
  });
});
