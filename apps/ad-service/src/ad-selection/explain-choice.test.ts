import { operatorRequest } from "@intermission/operator-api/operator-request";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, newTelegramId, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { addCampaign } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  const { now } = fixture.clock;
  const link = { name: "Links", advertiser: "Shop", formats: ["direct_link" as const] };
  await addCampaign(store.database, { campaignId: "cmp_link", ...link, landingUrl: "https://shop.test/", now });
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function explain(botId: string, userId: string) {
  const query = { botId, userId, format: "direct_link" };
  const { path } = operatorRequest("explainChoice", { query });
  const url = `/operator/v1${path}?${new URLSearchParams(query)}`;
  const answer = await fixture.app.inject({ url, headers: { authorization: `Bearer ${operatorToken}` } });
  const { blocked, campaigns } = answer.json();
  return { blocked, likelihood: campaigns[0].likelihood };
}

test("a user to whom no ad is opened is said to be so, and no campaign has a chance", async () => {
  const { now } = fixture.clock;
  const { botId } = await fixture.newBot({ cooldownSeconds: 60, dailyCap: 3 });
  const userId = newTelegramId();
  expect(await explain(botId, userId)).toEqual({ blocked: undefined, likelihood: 1 });

  const earned = async (count: number, secondsAgo: number) => {
    const text = `insert into viewers (bot_id, user_id, day, earned_today, last_earned_at) values ($1, $2, $3, $4, $5)
      on conflict (bot_id, user_id) do update set earned_today = excluded.earned_today, last_earned_at = excluded.last_earned_at`;
    const at = new Date(now.getTime() - secondsAgo * 1000);
    await store.database.run({ name: "", text }, [botId, userId, now.toISOString().slice(0, 10), count, at]);
  };
  await earned(1, 20);
  const cooldown = { reason: "cooldown", availableAt: new Date(now.getTime() + 40_000).toISOString() };
  expect(await explain(botId, userId)).toEqual({ blocked: cooldown, likelihood: 0 });
  await earned(3, 3600);
  expect(await explain(botId, userId)).toMatchObject({ blocked: { reason: "daily-cap" }, likelihood: 0 });
  expect(await explain(botId, newTelegramId())).toEqual({ blocked: undefined, likelihood: 1 });

  await fixture.app.inject({
    method: "POST",
    url: `/operator/v1/bots/${botId}/suspend`,
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  const suspended = { reason: "bot-suspended", availableAt: null };
  expect(await explain(botId, newTelegramId())).toEqual({ blocked: suspended, likelihood: 0 });
});
