import type { AdReportsPage } from "@intermission/operator-api/creatives";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "an-operators-token-of-32-characters-or-more";
const insertReport = statement<never>(
  "test.ad-report",
  `insert into ad_reports (bot_id, user_id, creative_id, day, reason, campaign_id, view_id, reported_at)
   values ($1, $2, $3, ($5::timestamptz at time zone 'UTC')::date, $4, 'cmp_a', 's', $5)`,
);

let store: TestDatabase;
let fixture: AppFixture;
let bots: [string, string];
let users = 0;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  bots = [(await fixture.newBot()).botId, (await fixture.newBot()).botId];
  // Most of the counts are equal, so that pages end between them.
  for (const creative of ["cre_b", "cre_a", "cre_c"]) {
    for (const reason of ["scam", "other", "illegal"]) {
      for (const botId of creative === "cre_a" ? bots : [bots[0]]) await report(botId, creative, reason);
    }
  }
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

const report = (botId: string, creative: string, reason: string, at = fixture.clock.now) =>
  store.database.run(insertReport, [botId, String(++users), creative, reason, at]);

async function list(query: Record<string, string>) {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const address = `${fixture.address}/operator/v1/creatives/reports?${new URLSearchParams(query)}`;
  const response = await fetch(address, { headers });
  const body = (await response.json()) as AdReportsPage & { error?: { message: string } };
  return { status: response.status, body };
}

const lineOf = ({ creativeId, reason, reports }: AdReportsPage["reports"][number]) =>
  `${reports} ${creativeId} ${reason}`;

/** All pages of a list; `between` runs after the first one. */
async function pagesOf(query: Record<string, string>, between = async () => {}) {
  const lines: string[] = [];
  let page = (await list(query)).body;
  await between();
  for (let rounds = 0; rounds < 20; rounds++) {
    lines.push(...page.reports.map(lineOf));
    expect(page.hasMore).toBe(page.next !== null);
    if (page.next === null) return lines;
    page = (await list({ ...query, after: page.next })).body;
  }
  throw new Error("the list has no end");
}

const all = [
  "2 cre_a illegal",
  "2 cre_a other",
  "2 cre_a scam",
  "1 cre_b illegal",
  "1 cre_b other",
  "1 cre_b scam",
  "1 cre_c illegal",
  "1 cre_c other",
  "1 cre_c scam",
];

test("the pages of viewers' reports have each entry once, the most frequent first, whatever their size", async () => {
  for (const limit of ["1", "2", "4", "9", "50"]) expect(await pagesOf({ limit })).toEqual(all);
});

test("reports that arrive between two pages neither repeat nor hide an entry", async () => {
  const later = new Date(fixture.clock.now.getTime() + 1000);
  const arrive = async () => {
    for (const reason of ["scam", "other"]) await report(bots[0], "cre_c", reason, later);
    await report(bots[0], "cre_c", "scam", later);
  };
  expect(await pagesOf({ limit: "4" }, arrive)).toEqual(all);
});

test("the reports of one bot's viewers are counted alone", async () => {
  expect(await pagesOf({ botId: bots[1], limit: "2" })).toEqual(["1 cre_a illegal", "1 cre_a other", "1 cre_a scam"]);
  expect(await list({ botId: "999" })).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining("there is no bot 999") } },
  });
});

test("text that is no cursor of the list is refused by name", async () => {
  const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const wrong = ["x", "%00", made([]), made([1, 0, "cre_a", "scam"]), made([1e300, 1, "cre_a", "scam"])];
  for (const after of [...wrong, made([1, 1, "cre\0", "scam"]), made([1, 1, "cre_a", "boring"]), made(null)]) {
    expect(await list({ after })).toMatchObject({
      status: 400,
      body: { error: { message: "after is not a cursor of this list" } },
    });
  }
});
