import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { personAgents } from "@intermission/testing/visitor-agents";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppFixture, newTelegramId, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { addBotOf, demoOf, launchData } from "../../test/fixtures/launch-fixture.ts";
import { countryDatabase } from "../../test/fixtures/maxmind-fixture.ts";
import { migrations } from "../migrations.ts";
import { audienceOf, countryOf } from "./audience.ts";
import { openCountrySource } from "./country-source.ts";

const operatorToken = "o".repeat(32);
const folder = mkdtempSync(join(tmpdir(), "intermission-countries-"));
const file = join(folder, "countries.mmdb");
writeFileSync(file, countryDatabase({ "203.0.113.0": "DE", "198.51.100.0": "IN", "192.0.2.0": "ZZ" }));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the kinds of an audience are few", () => {
  test.each([
    ["de", "DE"],
    [" IN ", "IN"],
    ["XX", undefined],
    ["T1", undefined],
    ["ZZ", undefined],
    ["QQ", undefined],
    ["DEU", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("the country of %j is %j", (text, country) => {
    expect(countryOf(text)).toBe(country);
  });

  test.each([
    [{}, { country: "", platform: "other", language: "other", premium: "other" }],
    [
      { country: null, language: "tlh", isPremium: false },
      { country: "other", platform: "other", language: "other", premium: "regular" },
    ],
    [
      { country: "IR", language: "fa", platform: "ios" as const, isPremium: true },
      { country: "IR", platform: "ios", language: "fa", premium: "premium" },
    ],
    [{ language: "qq" }, { country: "", platform: "other", language: "other", premium: "other" }],
  ])("%j is recorded as %j", (user, audience) => {
    expect(audienceOf(user)).toEqual(audience);
  });
});

describe("a file of countries", () => {
  test.each([
    ["203.0.113.7", "DE"],
    ["198.51.100.255", "IN"],
    ["192.0.2.1", null],
    ["10.0.0.1", null],
    ["2001:db8::1", null],
    ["unknown", null],
  ])("tells that %s is in %s", async (ip, country) => {
    const source = await openCountrySource({ kind: "file", file });
    expect(source?.({ ip, ips: [ip], headers: { "cf-ipcountry": "FR" } })).toBe(country);
  });

  test.each([
    ["missing", "none.mmdb", undefined],
    ["no database", "text.mmdb", Buffer.from("countries")],
    ["of networks", "asn.mmdb", countryDatabase({}, "GeoLite2-ASN")],
  ])("that is %s stops the start with its name and setting", async (_what, name, content) => {
    const path = join(folder, name);
    if (content) writeFileSync(path, content);
    await expect(openCountrySource({ kind: "file", file: path })).rejects.toThrow(
      new RegExp(`^COUNTRY_DATABASE names .*${name}, which cannot be read as a database of countries`),
    );
  });
});

describe("an app", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    const run = (text: string) => store.database.run({ name: "", text }, []);
    await run(`insert into creatives (creative_id, sha256, file_name, media_type, byte_length, duration_ms, width, height)
      values ('cre_1', 'ab', 'ab.mp4', 'video/mp4', 1000, 10000, 540, 960)`);
    await run("insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop')");
  });
  afterAll(() => store.dispose());

  async function open(config: Parameters<typeof openAppFixture>[1]) {
    const botId = newTelegramId();
    const app = await openAppFixture(store.database, { operatorToken, demo: demoOf(botId), ...config });
    const token = await addBotOf(app, { botId, now: app.clock.now });
    const operator = (method: "GET" | "POST", path: string, payload?: object) =>
      app.app.inject({
        method,
        url: `/operator/v1${path}`,
        headers: { authorization: `Bearer ${operatorToken}` },
        ...(payload && { payload }),
      });
    return { app, botId, token, operator };
  }

  const campaign = (countries: string[] | undefined, botId: string) => ({
    name: "Countries",
    advertiser: "Shop",
    formats: ["rewarded"],
    creativeIds: ["cre_1"],
    viewPriceMicros: 1000,
    targeting: { bots: [botId], ...(countries && { countries }) },
  });

  /** Opens the mini-app as a user of Telegram at an address; returns the outcome. */
  async function view(
    { app, botId }: { app: AppFixture; botId: string },
    { address, headers = {}, user }: { address: string; headers?: Record<string, string>; user: string },
  ): Promise<string> {
    const answer = await app.app.inject({
      method: "POST",
      url: "/player/v1/sessions",
      remoteAddress: "127.0.0.1",
      headers: { "user-agent": personAgents[0] ?? "", "x-forwarded-for": address, ...headers },
      payload: { bot_id: botId, init_data: launchData(botId, "1", app.clock.now, { user }) },
    });
    return answer.json().outcome as string;
  }
  const ofUser = (id: number, language: string, isPremium?: true) =>
    JSON.stringify({ id, first_name: "Ada", language_code: language, ...(isPremium && { is_premium: true }) });

  async function reportBy(opened: Awaited<ReturnType<typeof open>>, by: string) {
    await rollUpUntilNow(store.database);
    const answer = await opened.operator("GET", `/stats?botId=${opened.botId}&by=${by}&from=2026-03-01&to=2026-03-02`);
    return Object.fromEntries(answer.json().rows.map(({ key, fills }: { key: string; fills: number }) => [key, fills]));
  }

  test("counts views by country, platform, language and Premium, and shows a campaign in its countries only", async () => {
    const opened = await open({ trustProxy: ["127.0.0.1"], countries: { kind: "file", file } });
    expect(
      (await opened.operator("POST", "/campaigns?confirmed=true", campaign(["DE", "AT"], opened.botId))).statusCode,
    ).toBe(201);
    expect(await view(opened, { address: "203.0.113.1", user: ofUser(501, "de-AT", true) })).toBe("session");
    expect(await view(opened, { address: "203.0.113.2", user: ofUser(502, "tlh") })).toBe("session");
    expect(await view(opened, { address: "198.51.100.1", user: ofUser(503, "hi") })).toBe("no-ad");
    expect(await view(opened, { address: "10.1.2.3", user: ofUser(504, "hi") })).toBe("no-ad");
    expect(await reportBy(opened, "country")).toEqual({ DE: 2, IN: 0, other: 0 });
    expect(await reportBy(opened, "language,premium")).toEqual({
      "de premium": 1,
      "other regular": 1,
      "hi regular": 0,
    });
    expect(Object.values(await reportBy(opened, "platform"))).toEqual([2]);
    const total = (
      await opened.operator("GET", `/stats?botId=${opened.botId}&country=IN&from=2026-03-01&to=2026-03-02`)
    ).json().total;
    expect(total).toMatchObject({ requests: 1, fills: 0, noFillCount: 1 });
    await opened.app.close();
  });

  test("believes the header of a trusted proxy, and of nobody else", async () => {
    const countries = { kind: "header" as const, header: "CF-IPCountry" };
    const opened = await open({ trustProxy: ["127.0.0.1"], countries });
    await opened.operator("POST", "/campaigns?confirmed=true", campaign(undefined, opened.botId));
    await view(opened, { address: "203.0.113.1", headers: { "cf-ipcountry": "NL" }, user: ofUser(601, "nl") });
    await view(opened, { address: "203.0.113.1", headers: { "cf-ipcountry": "XX" }, user: ofUser(602, "nl") });
    await view(opened, { address: "203.0.113.1", headers: { "cf-ipcountry": "NL, DE" }, user: ofUser(603, "nl") });
    expect(await reportBy(opened, "country")).toEqual({ NL: 1, other: 2 });
    await opened.app.close();

    const direct = await open({ trustProxy: ["192.0.2.1"], countries });
    await direct.operator("POST", "/campaigns?confirmed=true", campaign(undefined, direct.botId));
    await view(direct, { address: "203.0.113.1", headers: { "cf-ipcountry": "NL" }, user: ofUser(701, "nl") });
    expect(await reportBy(direct, "country")).toEqual({ other: 1 });
    await direct.app.close();
  });

  test("without a source records no country, and refuses a campaign for some with the next step", async () => {
    const opened = await open({ trustProxy: ["127.0.0.1"] });
    await opened.operator("POST", "/campaigns?confirmed=true", campaign(undefined, opened.botId));
    await view(opened, { address: "203.0.113.1", headers: { "cf-ipcountry": "NL" }, user: ofUser(801, "nl") });
    expect(await reportBy(opened, "country")).toEqual({ "": 1 });
    const refused = await opened.operator("POST", "/campaigns?confirmed=true", campaign(["NL"], opened.botId));
    expect(refused.statusCode).toBe(400);
    expect(refused.json().error.message).toMatch(
      /^targeting\.countries cannot be used, since no source of countries is configured: set COUNTRY_DATABASE/,
    );
    await opened.app.close();
  });
});
