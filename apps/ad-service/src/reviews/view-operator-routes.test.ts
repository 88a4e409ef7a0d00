import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { insertBotsAndCampaigns } from "../../test/fixtures/facts-fixture.ts";
import { readBot } from "../bots/bots.ts";
import { issueCode, openCodes } from "../codes/issue-code.ts";
import { migrations } from "../migrations.ts";
import { newViewId } from "../views/view-ids.ts";

const operatorToken = "an-operators-token-of-32-characters-or-more";
const insertHeld = statement<never>(
  "test.held-view",
  `with video as (
    insert into creatives (creative_id, sha256, file_name, media_type, byte_length, duration_ms, width, height)
    values ('cre_a', 'ab', 'ab.mp4', 'video/mp4', 1, 10000, 1, 1) on conflict do nothing
  )
  insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, state, token_hash, duration_ms,
    opened_at, closed_at, close_reason, suspicions, deadline)
  values ($1, $2, $3, $5, 'cmp_a', 'cre_a', 'held', '', 10000, $4, $4, 'tap', '{no-frames,too-even}', $4)`,
);

let store: TestDatabase;
let fixture: AppFixture;
let botId: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  ({ botId } = await fixture.newBot());
  await insertBotsAndCampaigns(store.database);
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function held(userId = "501"): Promise<string> {
  const bot = await readBot(store.database, botId);
  if (!bot) throw new Error("the bot is gone");
  const { code } = await issueCode(openCodes(store.database), { bot, userId, now: fixture.clock.now });
  const viewId = newViewId({ botId, code });
  await store.database.run(insertHeld, [botId, viewId, code, fixture.clock.now, userId]);
  return viewId;
}

async function call(method: "GET" | "POST", path: string) {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const response = await fetch(`${fixture.address}/operator/v1${path}`, { method, headers });
  const body = (await response.json()) as { views?: unknown[]; error?: { code: string; message: string } };
  return { status: response.status, body };
}

test("held views are listed with their suspicions, and released or refused once", async () => {
  const paid = await held();
  expect((await call("GET", `/views?state=held&botId=${botId}`)).body.views).toMatchObject([
    { sessionId: paid, state: "held", suspicions: ["no-frames", "too-even"], campaignId: "cmp_a" },
  ]);
  expect(await call("POST", `/views/${paid}/release`)).toMatchObject({
    status: 200,
    body: { sessionId: paid, state: "rewarded", eventId: expect.stringMatching(/^evt_/) },
  });
  expect(await call("POST", `/views/${paid}/refuse`)).toMatchObject({
    status: 409,
    body: { error: { code: "NOT_HELD" } },
  });

  const refused = await held();
  expect(await call("POST", `/views/${refused}/refuse`)).toMatchObject({ status: 200, body: { state: "refused" } });
  const again = await call("POST", `/views/${refused}/release`);
  expect(again).toMatchObject({ status: 409, body: { error: { code: "NOT_HELD" } } });
  expect((await call("GET", "/views?state=held")).body.views).toEqual([]);
  expect(await store.database.run({ name: "", text: "select event from events" }, [])).toEqual([{ event: "rewarded" }]);
});

test("a paid view is refunded to its campaign once; one that was not charged has nothing to refund", async () => {
  const viewId = await held("502");
  expect(await call("POST", `/views/${viewId}/refund`)).toMatchObject({
    status: 409,
    body: { error: { code: "NOT_CHARGED" } },
  });
  await call("POST", `/views/${viewId}/release`);
  const day = async () => {
    const text = "select views, spent_micros as spent from campaign_days where campaign_id = 'cmp_a'";
    return (await store.database.run<{ views: number; spent: number }>({ name: "", text }, []))[0];
  };
  const before = await day();
  expect(await call("POST", `/views/${viewId}/refund`)).toMatchObject({
    status: 200,
    body: { sessionId: viewId, campaignId: "cmp_a", refundedMicros: 0 },
  });
  expect(await day()).toEqual({ views: (before?.views ?? 0) - 1, spent: before?.spent });
  expect(await call("POST", `/views/${viewId}/refund`)).toMatchObject({
    status: 409,
    body: { error: { code: "REFUNDED" } },
  });
  const { views = [] } = (await call("GET", "/views?state=rewarded")).body;
  expect(views.filter((view) => (view as { refundedAt: unknown }).refundedAt !== null)).toMatchObject([
    { sessionId: viewId },
  ]);
});

test.each([
  ["an unknown view", "7000000001-AAAAAAAAAAAAAAAAAAAAAA", 404],
  ["an invalid view id", "nonsense", 404],
])("%s is reported as such", async (_name, viewId, status) => {
  const answer = await call("POST", `/views/${viewId}/release`);
  expect(answer.status).toBe(status);
  expect(answer.body.error?.message).toContain("views list");
});
