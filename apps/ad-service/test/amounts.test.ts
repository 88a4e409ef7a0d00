import { statement } from "@intermission/postgres/open-database";
import { httpOperatorClient } from "@intermission/server/operator-client";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { personAgents } from "@intermission/testing/visitor-agents";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBot } from "../src/bots/bots.ts";
import { issueCode, openCodes } from "../src/codes/issue-code.ts";
import { migrations } from "../src/migrations.ts";
import { showStats, statsAnswer } from "../src/statistics/commands.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "an-operators-token-of-32-characters-or-more";
const link = {
  name: "Link",
  advertiser: "Shop",
  newAdvertiser: { billing: "credit" },
  formats: ["direct_link"],
  landingUrl: "https://shop.test/p",
};

describe("amounts of currencies of high denominations", () => {
  let store: TestDatabase;
  let fixture: AppFixture;
  let bot: Awaited<ReturnType<AppFixture["newBot"]>>;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    fixture = await openAppFixture(store.database, { operatorToken, trustProxy: ["127.0.0.1"], currency: "VND" });
    bot = await fixture.newBot({ cooldownSeconds: 0, suspiciousClicks: "pay" });
  });
  afterAll(async () => {
    await fixture.close();
    await store.dispose();
  });

  async function send(
    method: string,
    path: string,
    { body, token = operatorToken }: { body?: string; token?: string } = {},
  ) {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const response = await fetch(`${fixture.address}${path}`, { method, headers, ...(body !== undefined && { body }) });
    return { status: response.status, text: await response.text() };
  }
  /** `fields` is JSON, so that a number is sent as it is written. */
  const addCampaign = (fields: string) =>
    send("POST", "/operator/v1/campaigns", { body: `${JSON.stringify(link).slice(0, -1)},${fields}}` });

  test.each(["5000000000000", "50000000000000000", "99999999999990000", "100000000000000000"])(
    "a budget of %s micros is kept with all its digits",
    async (micros) => {
      const { status, text } = await addCampaign(`"clickPriceMicros":20000000,"dailyBudgetMicros":${micros}`);
      expect({ status, text }).toEqual({
        status: 201,
        text: expect.stringContaining(`"dailyBudgetMicros":${micros},`),
      });
    },
  );

  test.each([
    ['"dailyBudgetMicros":100000000000000001000', "dailyBudgetMicros", "from 1 to 100000000000000000"],
    ['"totalBudgetMicros":0', "totalBudgetMicros", "for no budget send null"],
    ['"totalBudgetMicros":-5', "totalBudgetMicros", "from 1 to 100000000000000000"],
    ['"totalBudgetMicros":0.05', "totalBudgetMicros", "an amount of 0.05 is 50000 micros"],
    ['"totalBudgetMicros":"5000000"', "totalBudgetMicros", "a JSON number, not text"],
    ['"totalBudgetMicros":true', "totalBudgetMicros", "from 1 to 100000000000000000"],
    ['"totalBudgetMicros":9007199254740999', "totalBudgetMicros", "2 decimals at most"],
    ['"clickPriceMicros":1000000000000001', "clickPriceMicros", "from 0 to 1000000000000000"],
    ['"clickPriceMicros":null', "clickPriceMicros", "from 0 to 1000000000000000"],
    [
      '"clickPriceMicros":5,"dailyBudgetMicros":50000000000000000',
      "clickPriceMicros",
      "2 decimals at most beside a budget",
    ],
  ])("%s is refused with the bounds", async (fields, field, words) => {
    const { status, text } = await addCampaign(fields);
    expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(words) });
    expect(text).toContain(`"field":"${field}"`);
  });

  let latest = 0;
  /** Returns where a new user's click leads. */
  async function follow(): Promise<string> {
    latest += 1;
    const settings = await readBot(store.database, bot.botId);
    if (!settings) throw new Error("the bot is gone");
    const codes = openCodes(store.database);
    const { code } = await issueCode(codes, {
      bot: settings,
      userId: `70${latest}`,
      reference: undefined,
      now: fixture.clock.now,
    });
    const headers = {
      "user-agent": personAgents[0] ?? "",
      "accept-language": "en",
      "x-forwarded-for": `203.0.113.${latest}`,
    };
    const { headers: answered } = await fetch(`${fixture.address}/${code}`, { headers, redirect: "manual" });
    return answered.get("location") ?? "";
  }

  test("the largest budget is used up to its last hundredth, and never exceeded", async () => {
    const fields = `"clickPriceMicros":10000,"totalBudgetMicros":100000000000000000,"pacing":"asap","priority":"sponsorship"`;
    const { text } = await addCampaign(`${fields},"targeting":{"bots":["${bot.botId}"]}`);
    const { campaignId } = JSON.parse(text) as { campaignId: string };
    const spend = statement("test.spend", "insert into campaign_days values ($1, $2, 0, 0, $3)");
    await store.database.run(spend, [campaignId, "2026-02-20", "60000000000000000"]);
    await store.database.run(spend, [campaignId, "2026-02-21", "39999999999970000"]);
    // A change lets the node read the sums of earlier days.
    expect(await send("PATCH", `/operator/v1/campaigns/${campaignId}`, { body: '{"weight":2}' })).toMatchObject({
      status: 200,
    });
    for (let click = 0; click < 3; click++) expect(await follow()).toBe("https://shop.test/p");
    for (let click = 0; click < 2; click++) await follow();
    const spent = statement<{ spent: string }>(
      "test.spent",
      "select sum(spent_micros)::text as spent from campaign_days where campaign_id = $1",
    );
    expect(await store.database.run(spent, [campaignId])).toEqual([{ spent: "100000000000000000" }]);
  });

  test("statistics beyond 2^53 micros have all their digits, and the command line's lines add up", async () => {
    const insert = statement(
      "test.sums",
      `insert into stats_bot_sums (bot_id, span, starts_at, rewards, spend_micros, revenue_micros)
       values ($1, 'day', $2, 1, $3, $4)`,
    );
    const days = ["12345678901234567", "9007199254740993", "20000000000000001"];
    for (const [index, micros] of days.entries()) {
      await store.database.run(insert, [bot.botId, `2026-01-0${index + 1}T00:00:00Z`, micros, micros]);
    }
    const sum = days.reduce((total, micros) => total + BigInt(micros), 0n);
    const period = "from=2026-01-01&to=2026-01-04";
    const ofOperator = await send("GET", `/operator/v1/stats?botId=${bot.botId}&${period}`);
    const ofPublisher = await send("GET", `/client/v1/stats?${period}`, { token: bot.token });
    for (const micros of [...days, String(sum)]) {
      expect(ofOperator.text).toContain(`"spendMicros":${micros},`);
      expect(ofPublisher.text).toContain(`"revenue_micros":${micros},`);
    }
    const client = httpOperatorClient({ url: fixture.address, operatorToken });
    const query = { botId: bot.botId, from: "2026-01-01", to: "2026-01-04" };
    const answer = statsAnswer.parse(await client.call({ method: "GET", path: "/stats", query }));
    await client.close();
    expect(answer.total.spendMicros).toBe(sum);
    expect(showStats(answer)).toMatch(
      /2026-01-01 .* 12345678901 .*\n2026-01-02 .* 9007199255 .*\n2026-01-03 .* 20000000000 /,
    );
    expect(showStats(answer)).toMatch(/in all .* 41352878156 /);
  });
});
