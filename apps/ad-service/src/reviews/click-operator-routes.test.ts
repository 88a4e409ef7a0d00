import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { personAgents } from "@intermission/testing/visitor-agents";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { readBot } from "../bots/bots.ts";
import { addCampaign } from "../campaigns/change-campaign.ts";
import { issueCode, openCodes } from "../codes/issue-code.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "an-operators-token-of-32-characters-or-more";

let store: TestDatabase;
let fixture: AppFixture;
let botId: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken, trustProxy: ["127.0.0.1"] });
  ({ botId } = await fixture.newBot({ suspiciousClicks: "hold", cooldownSeconds: 0 }));
  const fields = { name: "Link", advertiser: "Shop", formats: ["direct_link" as const], clickPriceMicros: 1500 };
  const landingUrl = "https://shop.test/p";
  const newAdvertiser = { billing: "credit", creditLimitMicros: null } as const;
  await addCampaign(store.database, {
    campaignId: "cmp_link",
    landingUrl,
    newAdvertiser,
    ...fields,
    now: fixture.clock.now,
  });
  await fixture.campaigns.refresh();
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

let latest = 0;
/** Followed in the same moment as the code was issued, which looks suspicious. */
async function follow(): Promise<void> {
  const bot = await readBot(store.database, botId);
  if (!bot) throw new Error("the bot is gone");
  latest += 1;
  const now = fixture.clock.now;
  const { code } = await issueCode(openCodes(store.database), {
    bot,
    userId: `70${latest}`,
    reference: undefined,
    now,
  });
  const address = `203.0.113.${latest}`;
  const headers = { "user-agent": personAgents[0] ?? "", "accept-language": "en", "x-forwarded-for": address };
  const { status } = await fetch(`${fixture.address}/${code}`, { headers, redirect: "manual" });
  expect(status).toBe(302);
}

async function call(method: "GET" | "POST", path: string) {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const response = await fetch(`${fixture.address}/operator/v1${path}`, { method, headers });
  const body = (await response.json()) as { clicks?: { clickId: string }[]; error?: { code: string; message: string } };
  return { status: response.status, body };
}

const latestHeld = async () => (await call("GET", `/clicks?state=held&botId=${botId}`)).body.clicks?.[0]?.clickId ?? "";

test("held clicks are listed with their suspicions, released or refused once, and refunded once", async () => {
  await follow();
  expect((await call("GET", `/clicks?state=held&botId=${botId}`)).body.clicks).toMatchObject([
    { state: "held", suspicions: ["right-after-issue"], campaignId: "cmp_link", userId: "701" },
  ]);
  const paid = await latestHeld();
  expect(await call("POST", `/clicks/${paid}/refund`)).toMatchObject({
    status: 409,
    body: { error: { code: "NOT_CHARGED" } },
  });
  expect(await call("POST", `/clicks/${paid}/release`)).toMatchObject({
    status: 200,
    body: { clickId: paid, state: "counted", eventId: expect.stringMatching(/^evt_/) },
  });
  expect(await call("POST", `/clicks/${paid}/refuse`)).toMatchObject({
    status: 409,
    body: { error: { code: "NOT_HELD" } },
  });
  expect(await call("POST", `/clicks/${paid}/refund`)).toMatchObject({
    status: 200,
    body: { clickId: paid, campaignId: "cmp_link", refundedMicros: 1500 },
  });
  expect(await call("POST", `/clicks/${paid}/refund`)).toMatchObject({
    status: 409,
    body: { error: { code: "REFUNDED" } },
  });

  await follow();
  const refused = await latestHeld();
  expect(await call("POST", `/clicks/${refused}/refuse`)).toMatchObject({ status: 200, body: { state: "refused" } });
  expect(await call("POST", `/clicks/${refused}/release`)).toMatchObject({
    status: 409,
    body: { error: { code: "NOT_HELD" } },
  });
  expect((await call("GET", "/clicks?state=held")).body.clicks).toEqual([]);
  expect((await call("GET", `/clicks?botId=${botId}`)).body.clicks).toHaveLength(2);
  expect(await store.database.run({ name: "", text: "select event from events" }, [])).toEqual([
    { event: "direct_link" },
  ]);
});

test.each(["release", "refuse", "refund"])("an unknown click is reported as such: %s", async (verb) => {
  for (const clickId of ["clk_01969f2c-3f00-7c3e-8f4e-2b9a1d6c5e70", "nonsense"]) {
    const answer = await call("POST", `/clicks/${clickId}/${verb}`);
    expect(answer.status).toBe(404);
    expect(answer.body.error?.message).toContain("clicks list");
  }
});
