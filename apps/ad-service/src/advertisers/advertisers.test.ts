import { operatorRequest } from "@intermission/operator-api/operator-request";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { readCampaigns } from "../ad-selection/campaign-snapshot.ts";
import { addCampaign } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "o".repeat(32);
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

async function send({ method, path, query = {}, body }: ReturnType<typeof operatorRequest>) {
  const named = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const answer = await fixture.app.inject({
    method,
    url: `/operator/v1${path}?${new URLSearchParams(named)}`,
    headers: { authorization: `Bearer ${operatorToken}` },
    ...(body !== undefined && { payload: body }),
  });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
}

const add = (name: string) => send(operatorRequest("addAdvertiser", { body: { name } }));
const sell = (campaignId: string, advertiser: string) =>
  addCampaign(store.database, {
    campaignId,
    name: campaignId,
    advertiser,
    formats: ["direct_link"],
    landingUrl: "https://shop.example/",
    now: new Date(),
  });
const runningIds = async () =>
  (await readCampaigns(store.database, new Date())).campaigns.map(({ campaignId }) => campaignId);

test("an advertiser keeps its id and its campaigns when it is renamed, and is found by its id and its new name", async () => {
  const { advertiserId } = (await add("Shop")).body;
  expect(await sell("cmp_shop", " SHOP ")).toMatchObject({ campaign: { advertiserId, advertiser: "Shop" } });
  const params = { advertiser: String(advertiserId) };
  const renamed = await send(operatorRequest("updateAdvertiser", { params, body: { name: "Shop Ltd" } }));
  expect(renamed).toMatchObject({ status: 200, body: { advertiserId, name: "Shop Ltd", campaigns: 1 } });
  for (const advertiser of ["shop ltd", params.advertiser])
    expect((await send(operatorRequest("showAdvertiser", { params: { advertiser } }))).body).toEqual(renamed.body);
  const shown = await send(operatorRequest("showCampaign", { params: { campaignId: "cmp_shop" } }));
  expect(shown.body).toMatchObject({ advertiserId, advertiser: "Shop Ltd" });
  expect((await send(operatorRequest("showAdvertiser", { params: { advertiser: "Shop" } }))).status).toBe(404);
});

test("an advertiser is added once, also by two requests at the same time", async () => {
  const statuses = (await Promise.all(["Twice", "TWICE", " twice"].map(add))).map(({ status }) => status);
  expect(statuses.sort()).toEqual([201, 409, 409]);
});

test("a new advertiser is prepaid unless the request that makes it says otherwise, and terms of a known one are refused", async () => {
  const termsOf = async (advertiser: unknown) => {
    const params = { advertiser: String(advertiser) };
    const { body } = await send(operatorRequest("showAdvertiserMoney", { params }));
    return [body.billing, body.creditLimitMicros];
  };
  await sell("cmp_prepaid", "Prepaid Ltd");
  expect(await termsOf("Prepaid Ltd")).toEqual(["prepaid", null]);
  const onCredit = { billing: "credit", creditLimitMicros: 5_000_000 };
  await send(operatorRequest("addAdvertiser", { body: { name: "Trusted Ltd", ...onCredit } }));
  expect(await termsOf("Trusted Ltd")).toEqual(["credit", 5_000_000]);
  const draft = { name: "Links", formats: ["direct_link"], landingUrl: "https://shop.test/" };
  const sellTo = async (advertiser: string, newAdvertiser: object) => {
    const { status, body } = await send(
      operatorRequest("addCampaign", { body: { ...draft, advertiser, newAdvertiser } }),
    );
    return [status, JSON.stringify(body.error ?? null)];
  };
  expect(await sellTo("Later Ltd", onCredit)).toEqual([201, "null"]);
  expect(await termsOf("Later Ltd")).toEqual(["credit", 5_000_000]);
  // Said again, as by a form that was opened before, the same terms harm nothing.
  expect(await sellTo("Later Ltd", onCredit)).toEqual([201, "null"]);
  expect(await sellTo("Later Ltd", { billing: "credit" })).toEqual([400, expect.stringContaining("ADVERTISER_KNOWN")]);
  const wrong = { billing: "prepaid", creditLimitMicros: 1 };
  expect(await sellTo("Another Ltd", wrong)).toEqual([400, expect.stringContaining("NOT_FOR_PREPAID")]);
  expect(await termsOf("Later Ltd")).toEqual(["credit", 5_000_000]);
});

test("the campaigns of an archived advertiser do not run until it is restored, and it gets no new ones", async () => {
  await sell("cmp_old", "Old shop");
  expect(await runningIds()).toContain("cmp_old");
  const params = { advertiser: "Old shop" };
  expect((await send(operatorRequest("archiveAdvertiser", { params }))).body).toMatchObject({ state: "archived" });
  expect(await runningIds()).not.toContain("cmp_old");
  expect(await sell("cmp_new", "Old shop")).toMatchObject({ outcome: "invalid", fault: { field: "advertiser" } });
  await send(operatorRequest("restoreAdvertiser", { params }));
  expect(await runningIds()).toContain("cmp_old");
});

test("a change of an advertiser is recorded under its id", async () => {
  const { advertiserId } = (await add("Audited")).body;
  await send(operatorRequest("archiveAdvertiser", { params: { advertiser: "audited" } }));
  const query = { objectId: String(advertiserId) };
  const { entries } = (await send(operatorRequest("listAuditEntries", { query }))).body;
  expect(entries).toMatchObject([
    { operation: "archiveAdvertiser", before: { state: "active" }, after: { state: "archived" } },
    { operation: "addAdvertiser", before: null, after: { name: "Audited" } },
  ]);
});
