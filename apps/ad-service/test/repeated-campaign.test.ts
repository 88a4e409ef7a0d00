import { operatorRequest } from "@intermission/operator-api/operator-request";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "o".repeat(32);
const idempotencyKey = "5a1f0c3e-77aa-4b1c-9d53-0a6b7c8d9e0f";
let store: TestDatabase;
let fixture: AppFixture;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function send({ method, path, body }: ReturnType<typeof operatorRequest>) {
  const headers = { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" };
  const answer = await fetch(`${fixture.address}/operator/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

function add(changes: { name?: string; startsAt?: string; advertiser?: string; idempotencyKey?: string } = {}) {
  const body = {
    idempotencyKey,
    advertiser: "Shop",
    name: "Spring sale",
    formats: ["direct_link" as const],
    landingUrl: "https://shop.example",
    clickPriceMicros: 80_000,
    startsAt: "2030-01-01T00:00:00Z",
    targeting: { weekdays: [1, 2], languages: ["en"] },
    ...changes,
  };
  return send(operatorRequest("addCampaign", { query: { confirmed: "true" }, body }));
}

const campaigns = async () => (await send(operatorRequest("listCampaigns"))).body.campaigns as { name: string }[];

test("a campaign whose answer was lost is added once, also if it is sent again at the same moment", async () => {
  const [first, ...others] = await Promise.all([add(), add(), add()]);
  expect(first).toMatchObject({ status: 201, body: { name: "Spring sale", advertiser: "Shop" } });
  expect(others).toEqual([first, first]);
  expect(await add({ advertiser: " shop" })).toEqual(first);
  expect(await campaigns()).toHaveLength(1);
  const { entries } = (await send(operatorRequest("listAuditEntries"))).body;
  expect(entries).toHaveLength(1);
});

test("the same request with other settings is refused, also once the campaign itself was changed", async () => {
  const otherwise = { status: 409, body: { error: { code: "IDEMPOTENCY_KEY_REUSED" } } };
  for (const changes of [{ name: "Summer sale" }, { startsAt: "2030-01-02T00:00:00Z" }, { advertiser: "Rival" }])
    expect(await add(changes)).toMatchObject(otherwise);
  const { campaignId } = (await add()).body as { campaignId: string };
  await send(operatorRequest("updateCampaign", { params: { campaignId }, body: { name: "Renamed" } }));
  expect(await add()).toMatchObject(otherwise);
  expect((await campaigns()).map(({ name }) => name)).toEqual(["Renamed"]);
});

test("a request of its own adds another campaign", async () => {
  expect((await add({ idempotencyKey: `${idempotencyKey}-other` })).status).toBe(201);
  expect(await campaigns()).toHaveLength(2);
  expect((await add({ idempotencyKey: "short" })).status).toBe(400);
});
