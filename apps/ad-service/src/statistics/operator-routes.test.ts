import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { insertSums } from "../../test/fixtures/facts-fixture.ts";
import { addCampaign } from "../campaigns/change-campaign.ts";
import { nameCreative } from "../creatives/creatives.ts";
import { migrations } from "../migrations.ts";
import { showStats, statsAnswer } from "./commands.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const { database } = store;
  fixture = await openAppFixture(database, { operatorToken, currency: "EUR" });
  const now = new Date();
  const link = { formats: ["direct_link" as const], landingUrl: "https://shop.test/", now };
  await addCampaign(database, { ...link, name: "One", advertiser: "Shop", campaignId: "cmp_1" });
  await addCampaign(database, { ...link, name: "Two", advertiser: "Shop", campaignId: "cmp_2" });
  await addCampaign(database, { ...link, name: "Three", advertiser: "Rival", campaignId: "cmp_3" });
  const creative = "insert into creatives (creative_id, kind, url) values ('cre_1', 'vast', 'https://tags.test/')";
  await database.run({ name: "", text: creative }, []);
  await nameCreative(database, { creativeId: "cre_1", name: "Spring sale, 15 s" });
  // 23:00 in UTC is midnight in Berlin.
  await insertSums(database, [
    {
      at: "2026-03-01T22:00Z",
      campaignId: "cmp_1",
      creativeId: "cre_1",
      clicks: 1,
      spendMicros: 1_000_000,
      revenueMicros: 700_000,
    },
    { at: "2026-03-01T23:00Z", campaignId: "cmp_2", clicks: 2, spendMicros: 2_500_000, revenueMicros: 1_400_000 },
    { at: "2026-03-02T01:00Z", campaignId: "cmp_3", clicks: 4, spendMicros: 9_000_000, revenueMicros: 6_300_000 },
  ]);
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function stats(query: Record<string, string>) {
  const period = { from: "2026-02-28T23:00:00Z", to: "2026-03-02T23:00:00Z" };
  const url = `/operator/v1/stats?${new URLSearchParams({ ...period, ...query })}`;
  const answer = await fixture.app.inject({ url, headers: { authorization: `Bearer ${operatorToken}` } });
  return { status: answer.statusCode, body: answer.json() };
}
async function csvAnswer(query: Record<string, string>) {
  const period = { from: "2026-02-28T23:00:00Z", to: "2026-03-02T23:00:00Z" };
  const url = `/operator/v1/stats.csv?${new URLSearchParams({ ...period, ...query })}`;
  const answer = await fixture.app.inject({ url, headers: { authorization: `Bearer ${operatorToken}` } });
  expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
  return answer;
}
const csv = async (query: Record<string, string>) => (await csvAnswer({ heading: "no", ...query })).body;
const clicksBy = ({ body }: Awaited<ReturnType<typeof stats>>) =>
  Object.fromEntries(body.rows.map(({ key, clicks }: { key: string; clicks: number }) => [key, clicks]));

test("the statistics of an advertiser are those of its campaigns, by its name in any case", async () => {
  expect(clicksBy(await stats({ advertiser: "shop ", by: "campaign" }))).toEqual({ cmp_1: 1, cmp_2: 2 });
  expect(clicksBy(await stats({ advertiser: "Shop", campaignId: "cmp_3", by: "campaign" }))).toEqual({});
  expect((await stats({ advertiser: "Shop", campaignId: "cmp_2" })).body.total).toMatchObject({ clicks: 2 });
  expect((await stats({ advertiser: "Nobody" })).body.error.message).toContain("there is no advertiser Nobody");
});

test("by advertiser the rows have its id, which stays when its name changes", async () => {
  const { rows } = (await stats({ by: "advertiser" })).body;
  expect(rows).toMatchObject([
    { key: expect.stringMatching(/^adv_/), name: "Rival", clicks: 4 },
    { key: expect.stringMatching(/^adv_/), name: "Shop", clicks: 3 },
  ]);
  const [{ key: rival }] = rows;
  await store.database.run({ name: "", text: "update advertisers set name = 'Rival Ltd' where name = 'Rival'" }, []);
  expect((await stats({ by: "advertiser,day" })).body.rows).toContainEqual(
    expect.objectContaining({
      keys: { advertiser: rival, day: "2026-03-02" },
      names: { advertiser: "Rival Ltd" },
      clicks: 4,
    }),
  );
  expect(clicksBy(await stats({ advertiser: rival, by: "campaign" }))).toEqual({ cmp_3: 4 });
  const [, line] = (await csv({ by: "advertiser" })).split("\r\n");
  expect(line).toMatch(new RegExp(`^${rival},Rival Ltd,`));
});

test("days are those of the zone, and an unknown zone is refused", async () => {
  expect(clicksBy(await stats({ timeZone: "Europe/Berlin" }))).toEqual({ "2026-03-01": 1, "2026-03-02": 6 });
  expect(clicksBy(await stats({}))).toEqual({ "2026-02-28": 0, "2026-03-01": 3, "2026-03-02": 4 });
  const refused = await stats({ timeZone: "Berlin" });
  expect(refused).toMatchObject({ status: 400 });
  expect(refused.body.error.message).toContain("must be a time zone such as Europe/Berlin");
});

test("people read amounts in the currency, days with their zone, and creatives by name", async () => {
  const answer = statsAnswer.parse((await stats({ by: "creative", timeZone: "Europe/Berlin" })).body);
  expect(answer.rows).toContainEqual(expect.objectContaining({ key: "cre_1", name: "Spring sale, 15 s" }));
  expect(showStats(answer)).toMatch(/days in Europe\/Berlin; money in EUR/);
  const file = await csv({ by: "creative", timeZone: "Europe/Berlin" });
  // Spreadsheets take it for UTF-8.
  expect(file.charCodeAt(0)).toBe(0xfeff);
  const [head = "", ...lines] = file.slice(1).split("\r\n");
  const names = head.split(",");
  const row = lines.find((line) => line.startsWith("cre_1"))?.match(/("[^"]*"|[^,]*)(,|$)/g) ?? [];
  const field = (name: string) => row[names.indexOf(name)]?.replace(/,$/, "");
  expect([field("currency"), field("spend"), field("revenue"), field("spendMicros")]).toEqual([
    "EUR",
    "1",
    "0.7",
    "1000000",
  ]);
});

test("a CSV file names its days and their zone, in its name and in its first lines, unless they are not requested", async () => {
  const query = { by: "campaign", timeZone: "Asia/Kathmandu" };
  const { headers, body } = await csvAnswer({ ...query, compare: "previous" });
  // Bounds are widened to whole hours of the zone.
  expect(headers["content-disposition"]).toBe('attachment; filename="report_2026-03-01_2026-03-03_Asia-Kathmandu.csv"');
  const [heading = "", table = ""] = body.slice(1).split("\r\n\r\n");
  expect(heading.split("\r\n").slice(0, 5)).toEqual([
    "from,2026-03-01T04:00:00+05:45",
    "to,2026-03-03T05:00:00+05:45",
    "timeZone,Asia/Kathmandu",
    "comparedFrom,2026-02-27T03:00:00+05:45",
    "comparedTo,2026-03-01T04:00:00+05:45",
  ]);
  expect(heading.split("\r\n")[5]).toMatch(/^countedUntil,/);
  expect(`\uFEFF${table}`).toBe(await csv({ ...query, compare: "previous" }));
  expect(await csv(query)).toMatch(/^\uFEFFkey,/);
});

test("a report says the names of what it is limited to, by id", async () => {
  const { rows } = (await stats({ by: "advertiser" })).body;
  const { key: advertiser, name } = rows[0];
  const query = { advertiser, creativeId: "cre_1", campaignId: "cmp_1" };
  expect((await stats(query)).body.of).toEqual({ advertiser: name, creative: "Spring sale, 15 s", campaign: "One" });
  expect((await stats({ by: "bot" })).body.of).toEqual({});
});

test("a creative by audience, of which there are no sums, is refused wherever it is named", async () => {
  for (const query of [
    { creativeId: "cre_1", by: "country" },
    { creativeId: "cre_1", country: "DE" },
    { by: "creative", platform: "ios" },
  ]) {
    const refused = await stats(query as Record<string, string>);
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.body.error.message).toMatch(/has no figures of a creative by (country|platform)/);
  }
  expect((await stats({ campaignId: "cmp_1", by: "country" })).status).toBe(200);
});
