import { type OperatorInput, operatorRequest } from "@intermission/operator-api/operator-request";
import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";
import { planRevert } from "./revert-change.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let campaignId: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function send<Name extends OperatorRouteName>(name: Name, input: OperatorInput<Name>) {
  const { method, path, query = {}, body } = operatorRequest(name, input);
  const answer = await fixture.app.inject({
    method,
    url: `/operator/v1${path}?${new URLSearchParams(query as Record<string, string>)}`,
    headers: { authorization: `Bearer ${operatorToken}` },
    ...(body !== undefined && { payload: body }),
  });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
}

beforeEach(async () => {
  const body = {
    name: "Spring",
    advertiser: "Nord Tea",
    formats: ["direct_link" as const],
    landingUrl: "https://shop.test/",
    clickPriceMicros: 1500,
    dailyBudgetMicros: 5_000_000,
    endsAt: "2090-01-01",
    targeting: { languages: ["en"] },
  };
  const added = await send("addCampaign", { query: { confirmed: "true" }, body });
  campaignId = String(added.body.campaignId);
});

const update = (body: NonNullable<OperatorInput<"updateCampaign">["body"]>) =>
  send("updateCampaign", { params: { campaignId }, query: { confirmed: "true" }, body });
const latestEntry = async () => {
  const trail = await send("listAuditEntries", { query: { objectId: campaignId, limit: "1" } });
  return String((trail.body.entries as { entryId: string }[])[0]?.entryId);
};
const revert = (entryId: string, query = {}) =>
  send("revertCampaign", { params: { campaignId }, query, body: { entryId } });
const show = async () => (await send("showCampaign", { params: { campaignId } })).body;

test("a reverted change brings back what it has set, of every type, and leaves what others have set", async () => {
  const before = await show();
  await update({
    dailyBudgetMicros: null,
    endsAt: "2080-01-01",
    targeting: { languages: ["ru"], premium: true },
    advertiser: "Bike Works",
  });
  const entryId = await latestEntry();
  await update({ name: "Summer" });
  expect((await revert(entryId)).status).toBe(200);
  const { updatedAt: _, ...reverted } = await show();
  expect({ ...reverted, updatedAt: before.updatedAt }).toEqual({ ...before, name: "Summer" });
});

test("a revert leaves an entry of its own, which can be reverted, too", async () => {
  await send("pauseCampaign", { params: { campaignId } });
  await revert(await latestEntry());
  expect((await show()).status).toBe("active");
  await revert(await latestEntry());
  expect((await show()).status).toBe("paused");
});

test("what was changed again since is overwritten only after a confirmation that names it", async () => {
  await update({ dailyBudgetMicros: 7_000_000 });
  const entryId = await latestEntry();
  await update({ dailyBudgetMicros: 8_000_000 });
  const refused = await revert(entryId);
  expect(refused.status).toBe(409);
  expect(JSON.stringify(refused.body)).toContain("dailyBudgetMicros was changed again since");
  expect((await show()).dailyBudgetMicros).toBe(8_000_000);
  expect((await revert(entryId, { confirmed: "true" })).status).toBe(200);
  expect((await show()).dailyBudgetMicros).toBe(5_000_000);
});

test("an entry that set nothing, and one of another object, are refused with the reason", async () => {
  const added = await revert(await latestEntry());
  expect([added.status, JSON.stringify(added.body)]).toEqual([400, expect.stringContaining("set no setting")]);
  const other = campaignId;
  const entryId = await latestEntry();
  await send("addCampaign", {
    query: { confirmed: "true" },
    body: { name: "Other", advertiser: "Nord Tea", formats: ["direct_link"], landingUrl: "https://shop.test/" },
  }).then(({ body }) => {
    campaignId = String(body.campaignId);
  });
  expect((await revert(entryId)).status).toBe(404);
  campaignId = other;
  await send("archiveCampaign", { params: { campaignId } });
  expect((await revert(await latestEntry(), { confirmed: "true" })).status).toBe(409);
  expect((await show()).status).toBe("archived");
});

test("a value that today's rules refuse is not brought back", () => {
  const change = { before: { landing_url: "ftp://old.test/" }, after: { landing_url: null } };
  expect(planRevert(change, { landing_url: null })).toMatchObject({ outcome: "refused", field: "landingUrl" });
});
