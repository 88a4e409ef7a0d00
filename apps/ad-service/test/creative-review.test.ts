import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { invitePerson, newPersonId } from "../src/people/people.ts";
import { openSession } from "../src/people/sessions.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { type AppFixture, newTelegramId, openAppFixture } from "./fixtures/app-fixture.ts";
import { openViewFixture } from "./fixtures/view-fixture.ts";

const operatorToken = "o".repeat(32);
const clip = join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4");
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAEElEQVR42mNgGAWjYBTAAAADEAAB1y2EYwAAAABJRU5ErkJggg==",
  "base64",
);
let store: TestDatabase;
let fixture: AppFixture;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  for (const name of ["Shop", "Rival"]) await asOperator(operatorRequest("addAdvertiser", { body: { name } }));
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

type Call = ReturnType<typeof operatorRequest>;

async function send({ method, path, query = {}, body }: Call, headers: Record<string, string>) {
  const named = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const isFile = body instanceof Uint8Array;
  const answer = await fetch(`${fixture.address}/operator/v1${path}?${new URLSearchParams(named)}`, {
    method,
    headers: { ...headers, ...(body && { "content-type": isFile ? "application/octet-stream" : "application/json" }) },
    body: isFile ? new Uint8Array(body) : body === undefined ? null : JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const asOperator = (call: Call) => send(call, { authorization: `Bearer ${operatorToken}` });

async function signIn(advertiser: string): Promise<(call: Call) => ReturnType<typeof send>> {
  const { database } = store;
  const [personId, now] = [newPersonId(), fixture.clock.now];
  const invitation = { email: `${personId.toLowerCase()}@ads.test`, role: "advertiser" as const, advertiser };
  await invitePerson({ database, secretBox: secretBox(Buffer.alloc(32)) }, { personId, invitation, now });
  const { token } = await database.transaction((tx) => openSession(tx, { personId, now }));
  return (call) => send(call, { cookie: `__Host-operator=${token}`, origin: "http://ads.test" });
}

test("an advertiser resumes what its own people have paused, and not what the operator has", async () => {
  const asShop = await signIn("Shop");
  const landingUrl = "https://shop.test/";
  const draft = { name: "Links", advertiser: "Shop", formats: ["direct_link"], landingUrl };
  const { campaignId } = (await asOperator(operatorRequest("addCampaign", { body: draft }))).body;
  const params = { campaignId: String(campaignId) };
  const [pause, resume] = [operatorRequest("pauseCampaign", { params }), operatorRequest("resumeCampaign", { params })];
  expect((await asShop(pause)).body).toMatchObject({ status: "paused", pausedBy: "advertiser" });
  expect((await asShop(resume)).body).toMatchObject({ status: "active", pausedBy: null });
  await asShop(pause);
  expect((await asOperator(pause)).body).toMatchObject({ status: "paused", pausedBy: "operator" });
  const refused = { status: 409, body: { error: { code: "PAUSED_BY_OPERATOR" } } };
  expect(await asShop(resume)).toMatchObject(refused);
  // Pausing it once more does not make it the advertiser's.
  expect((await asShop(pause)).body).toMatchObject({ status: "paused", pausedBy: "operator" });
  expect(await asShop(resume)).toMatchObject(refused);
  expect((await asOperator(resume)).body).toMatchObject({ status: "active", pausedBy: null });
  await asOperator(operatorRequest("archiveCampaign", { params }));
});

const upload = async (advertiser?: string) =>
  operatorRequest("uploadVideo", { query: { name: "clip.mp4", advertiser }, body: await readFile(clip) });

test("an advertiser's upload is shown once it is submitted and approved, and no longer when it is changed or refused", async () => {
  const asShop = await signIn("Shop");
  const uploaded = await asShop(await upload("shop"));
  expect(uploaded).toMatchObject({ status: 201, body: { review: "draft", revision: 1 } });
  const creativeId = String(uploaded.body.creativeId);
  const params = { creativeId };
  expect((await asOperator(operatorRequest("readReviewQueue"))).body).toMatchObject({ waiting: 0 });
  expect(await asOperator(operatorRequest("approveCreative", { params, body: { revision: 1 } }))).toMatchObject({
    status: 409,
    body: { error: { code: "CREATIVE_IS_DRAFT" } },
  });
  expect((await asShop(operatorRequest("submitCreative", { params }))).body).toMatchObject({ review: "waiting" });
  expect((await asOperator(operatorRequest("readReviewQueue"))).body).toMatchObject({
    waiting: 1,
    creatives: [{ creativeId }],
  });
  const draft = { name: "Spring", advertiser: "Shop", formats: ["rewarded"], creativeIds: [creativeId] };
  expect((await asOperator(operatorRequest("addCampaign", { body: draft }))).status).toBe(201);
  const { botId } = await fixture.newBot();
  const whyNot = async () => {
    const query = { botId, userId: newTelegramId() };
    const { campaigns } = (await asOperator(operatorRequest("explainChoice", { query }))).body;
    return (campaigns as { exclusionReason?: string }[])[0]?.exclusionReason;
  };
  expect(await whyNot()).toBe("not-approved");

  const approve = (revision: number) => asOperator(operatorRequest("approveCreative", { params, body: { revision } }));
  expect((await approve(1)).body).toMatchObject({ review: "approved" });
  expect(await whyNot()).toBeUndefined();
  const reopened = await asOperator(operatorRequest("reopenReview", { params, body: { revision: 1 } }));
  expect(reopened.body).toMatchObject({ review: "waiting", reviewedAt: null });
  expect(await whyNot()).toBe("not-approved");
  await approve(1);
  expect((await asShop(operatorRequest("submitCreative", { params }))).status).toBe(409);

  expect((await asShop(operatorRequest("setPoster", { params, body: picture }))).body).toMatchObject({
    review: "waiting",
    revision: 2,
  });
  expect(await whyNot()).toBe("not-approved");
  expect(await approve(1), "what the reviewer saw is not what would be shown").toMatchObject({
    status: 409,
    body: { error: { code: "CREATIVE_CHANGED" } },
  });

  const body = { revision: 2, reason: "The picture is empty" };
  await asOperator(operatorRequest("refuseCreative", { params, body }));
  expect(await whyNot()).toBe("not-approved");
  expect((await asShop(operatorRequest("showCreative", { params }))).body).toMatchObject({
    review: "refused",
    reviewReason: "The picture is empty",
  });
  await asShop(operatorRequest("setLegalLine", { params, body: { legalLine: "Shop Ltd", erid: "2VtzqwP8x4a" } }));
  expect((await asOperator(operatorRequest("showCreative", { params }))).body).toMatchObject({
    review: "waiting",
    reviewReason: null,
    marking: "Реклама. Shop. erid: 2VtzqwP8x4a",
  });
  const [queue, list] = [
    await asOperator(operatorRequest("readReviewQueue")),
    await asOperator(operatorRequest("listCreatives")),
  ];
  for (const { body } of [queue, list])
    expect(body.creatives).toContainEqual(
      expect.objectContaining({ creativeId, marking: "Реклама. Shop. erid: 2VtzqwP8x4a" }),
    );

  const query = { objectId: creativeId };
  const { entries } = (await asOperator(operatorRequest("listAuditEntries", { query }))).body;
  expect((entries as { operation: string }[]).map(({ operation }) => operation)).toEqual([
    "setLegalLine",
    "refuseCreative",
    "setPoster",
    "approveCreative",
    "reopenReview",
    "approveCreative",
    "submitCreative",
    "uploadVideo",
  ]);
});

test("an offer that was not started is withdrawn when its video is refused; a view that plays goes on", async () => {
  const views = await openViewFixture(store.database, viewPlayerRoutes);
  const decide = async (review: string, reason: string | null) => {
    const text = "update creatives set review = $1, review_reason = $2 where creative_id = 'cre_1'";
    await store.database.run({ name: "", text }, [review, reason]);
    await views.campaigns.refresh();
  };
  const codeOfPlaying = await views.issue("700");
  const playing = await views.begin("700", codeOfPlaying);
  await views.report(playing, { started: true });
  const code = await views.issue("701");
  expect((await views.open("701", code)).body).toMatchObject({ outcome: "session", state: "opened" });
  await decide("refused", "Misleading");
  expect((await views.open("701", code)).body).toMatchObject({ outcome: "no-ad" });
  expect((await views.open("700", codeOfPlaying)).body).toMatchObject({ outcome: "session", state: "playing" });
  await decide("approved", null);
  expect((await views.open("701", code)).body).toMatchObject({ outcome: "session" });
  await views.close();
});

test("an operator's upload is approved at once, and approves nothing of an advertiser who uploads the same file", async () => {
  const own = await asOperator(await upload());
  expect(own.body).toMatchObject({ review: "approved", advertiserId: null });
  const asRival = await signIn("Rival");
  const rivals = await asRival(await upload("Rival"));
  expect(rivals.body).toMatchObject({ review: "draft" });
  expect(rivals.body.creativeId).not.toBe(own.body.creativeId);
  const ofOperator = { params: { creativeId: String(own.body.creativeId) } };
  expect((await asRival(operatorRequest("showCreative", ofOperator))).status).toBe(404);
  expect((await asRival(await upload("Shop"))).status).toBe(404);
  expect((await asRival(await upload())).status).toBe(403);
  const mine = { params: { creativeId: String(rivals.body.creativeId) }, body: { revision: 1 } };
  expect((await asRival(operatorRequest("approveCreative", mine))).status).toBe(403);
  const listed = await asRival(operatorRequest("listCreatives", { query: { advertiser: "Rival" } }));
  expect(listed.body.creatives).toMatchObject([{ creativeId: rivals.body.creativeId }]);
});

test("a search finds creatives by words of the name and by the id, of those that the caller may see", async () => {
  const [asShop, asRival] = [await signIn("Shop"), await signIn("Rival")];
  const creativeId = String((await asRival(await upload("Rival"))).body.creativeId);
  const named = { params: { creativeId }, body: { name: "Spring_Blend 100% Весна" } };
  expect((await asRival(operatorRequest("renameCreative", named))).status).toBe(200);
  const found = async (as: typeof asShop, find: string, advertiser?: string) => {
    const { body } = await as(operatorRequest("listCreatives", { query: { find, advertiser } }));
    return (body.creatives as { creativeId: string }[]).map((one) => one.creativeId);
  };
  for (const find of ["blend  SPRING", "100%", "g_b", creativeId.slice(4, 16).toUpperCase(), " 100% ", "Весна"])
    expect(await found(asOperator, find), find).toEqual([creativeId]);
  expect(await found(asOperator, "spring tea")).toEqual([]);
  expect(await found(asRival, creativeId, "Rival")).toEqual([creativeId]);
  expect(await found(asShop, creativeId, "Shop")).toEqual([]);
  expect((await asShop(operatorRequest("listCreatives", { query: { find: creativeId } }))).status).toBe(403);
});

test("an advertiser shows own videos in own campaigns, without texts that nobody has reviewed", async () => {
  const [asShop, asRival] = [await signIn("Shop"), await signIn("Rival")];
  const creativeOf = async (as: typeof asShop, advertiser: string) =>
    String((await as(await upload(advertiser))).body.creativeId);
  const [own, rivals] = [await creativeOf(asShop, "Shop"), await creativeOf(asRival, "Rival")];
  const house = String((await asOperator(await upload())).body.creativeId);
  const draft = { advertiser: "Shop", formats: ["rewarded"], creativeIds: [house], totalBudgetMicros: 1e9 };
  const add = async (settings: object) => {
    const call = operatorRequest("addCampaign", { body: { ...draft, ...settings }, query: { confirmed: "true" } });
    const added = await asOperator(call);
    expect(added.status, JSON.stringify(added.body)).toBe(201);
    return String(added.body.campaignId);
  };
  const [mine, foreign] = [await add({ name: "Own" }), await add({ name: "Foreign", advertiser: "Rival" })];
  const attach = async (campaignId: string, creativeId: string, body = {}) =>
    (await asShop(operatorRequest("attachCreative", { params: { campaignId, creativeId }, body }))).status;
  expect(await attach(mine, own, { label: "Free money" })).toBe(400);
  expect(await attach(mine, rivals)).toBe(404);
  expect(await attach(foreign, own)).toBe(404);
  expect(await attach(mine, own, { weight: 2 })).toBe(200);
  const shown = await asShop(operatorRequest("showCampaign", { params: { campaignId: mine } }));
  expect(shown.body.creatives).toContainEqual(expect.objectContaining({ creativeId: own, weight: 2, label: null }));
});
