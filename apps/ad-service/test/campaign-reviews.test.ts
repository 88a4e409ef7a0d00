import { type OperatorRequest, operatorRequest } from "@intermission/operator-api/operator-request";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";
import { signInAdvertiser } from "./sign-in-advertiser.ts";

let two: TwoNodes;
let shop: { cookie: string; origin: string };
let rival: { cookie: string; origin: string };
beforeAll(async () => {
  two = await openTwoNodes();
  for (const name of ["Shop", "Rival"]) await asOperator(operatorRequest("addAdvertiser", { body: { name } }));
  const topUp = { amountMicros: 10e6, reference: "INV-1" };
  await asOperator(operatorRequest("recordTopUp", { params: { advertiser: "Shop" }, body: topUp }));
  [shop, rival] = [await signIn("Shop"), await signIn("Rival")];
});
afterAll(() => two.close());

const signIn = (advertiser: string) =>
  signInAdvertiser(two.store.database, { advertiser, now: two.nodes[0].clock.now });

const asOperator = (request: OperatorRequest) => two.send(two.nodes[0], request);
const asShop = (request: OperatorRequest, node = two.nodes[0]) => two.send(node, request, shop);

async function draft(changes: object = {}) {
  const body = { name: "Spring", formats: ["direct_link"], landingUrl: "https://shop.test/", ...changes };
  return asShop(operatorRequest("draftCampaign", { query: { advertiser: "Shop" }, body }));
}

async function waiting() {
  const params = { campaignId: String((await draft()).body.campaignId) };
  const { body } = await asShop(operatorRequest("submitCampaign", { params }));
  return { params, expectedUpdatedAt: String(body.updatedAt) };
}

const show = async (params: { campaignId: string }) => (await asShop(operatorRequest("showCampaign", { params }))).body;

test("a draft runs once it is submitted and approved, and its advertiser is told", async () => {
  const drafted = await draft({ clickPriceMicros: 1000 });
  expect(drafted).toMatchObject({ status: 201, body: { status: "paused", pausedBy: "review", review: "draft" } });
  const params = { campaignId: String(drafted.body.campaignId) };
  const resumed = await asOperator(operatorRequest("resumeCampaign", { params }));
  expect(resumed.body.error?.code).toBe("CAMPAIGN_NOT_APPROVED");
  const early = { expectedUpdatedAt: String(drafted.body.updatedAt) };
  const asDraft = await asOperator(operatorRequest("approveCampaign", { params, body: early }));
  expect(asDraft.body.error?.code).toBe("CAMPAIGN_IS_DRAFT");
  const { body } = await asShop(operatorRequest("submitCampaign", { params }));
  const listed = await asOperator(operatorRequest("listCampaigns", { query: { review: "waiting" } }));
  expect(listed.body).toMatchObject({ total: 1, campaigns: [{ campaignId: params.campaignId }] });
  const refusal = { expectedUpdatedAt: String(body.updatedAt), reason: "The page does not open" };
  await asOperator(operatorRequest("refuseCampaign", { params, body: refusal }));
  expect(await show(params)).toMatchObject({ review: "refused", reviewReason: refusal.reason, status: "paused" });
  const again = await asShop(operatorRequest("submitCampaign", { params }));
  expect(again.body).toMatchObject({ review: "waiting", reviewReason: null });
  const approval = { expectedUpdatedAt: String(again.body.updatedAt), clickPriceMicros: 2000, priority: "house" };
  expect((await asOperator(operatorRequest("approveCampaign", { params, body: approval }))).body).toMatchObject({
    status: "active",
    pausedBy: null,
    clickPriceMicros: 2000,
    priority: "house",
  });
  const alerts = await two.store.database.run<{ cause: string; facts: object }>(
    { name: "", text: "select cause, facts from alerts order by alert_id" },
    [],
  );
  expect(alerts).toEqual([
    { cause: "campaign-refused", facts: { name: "Spring", reason: refusal.reason } },
    { cause: "campaign-approved", facts: { name: "Spring" } },
  ]);
  const [price, page] = [{ clickPriceMicros: 1999 }, { landingUrl: "https://other.test/" }];
  const lowered = await asShop(operatorRequest("reviseCampaign", { params, body: price }));
  expect([lowered.status, lowered.body.error?.message]).toEqual([400, expect.stringContaining("only be raised")]);
  const unconfirmed = await asShop(operatorRequest("reviseCampaign", { params, body: page }));
  expect(unconfirmed.body.error?.code).toBe("CONFIRMATION_NEEDED");
  expect(await show(params)).toMatchObject({ status: "active", landingUrl: "https://shop.test/" });
  const query = { confirmed: "true" };
  await asShop(operatorRequest("reviseCampaign", { params, body: page, query }));
  expect(await show(params)).toMatchObject({ status: "paused", review: "waiting", ...page });
});

test("what the operator has paused stays paused through the review", async () => {
  const { params } = await waiting();
  await asOperator(operatorRequest("pauseCampaign", { params }));
  const expectedUpdatedAt = String((await show(params)).updatedAt);
  const approval = operatorRequest("approveCampaign", { params, body: { expectedUpdatedAt } });
  expect((await asOperator(approval)).body).toMatchObject({
    status: "paused",
    pausedBy: "operator",
    review: "approved",
  });
  const resumed = await asShop(operatorRequest("resumeCampaign", { params }));
  expect(resumed.body.error?.code).toBe("PAUSED_BY_OPERATOR");
  expect((await asOperator(operatorRequest("resumeCampaign", { params }))).body).toMatchObject({ status: "active" });
});

test("an advertiser drafts with its own videos alone, ends only its own drafts, and revises no campaign of the operator's", async () => {
  const addTag = { query: { confirmed: "true" }, body: { url: "https://tags.test/vast" } };
  const { creativeId } = (await asOperator(operatorRequest("addVastTag", addTag))).body;
  const foreign = await draft({ formats: ["rewarded"], landingUrl: null, creativeIds: [String(creativeId)] });
  expect(foreign.status).toBe(404);
  const links = { name: "Links", advertiser: "Shop", formats: ["direct_link"], landingUrl: "https://shop.test/" };
  const added = await asOperator(operatorRequest("addCampaign", { body: links }));
  const params = { campaignId: String(added.body.campaignId) };
  for (const request of [
    operatorRequest("reviseCampaign", { params, body: { name: "Mine" } }),
    operatorRequest("submitCampaign", { params }),
    operatorRequest("archiveCampaign", { params }),
  ])
    expect((await asShop(request)).body.error?.code, request.path).toBe("CAMPAIGN_OF_OPERATOR");
  const own = { campaignId: String((await draft()).body.campaignId) };
  expect((await two.send(two.nodes[1], operatorRequest("submitCampaign", { params: own }), rival)).status).toBe(404);
  expect((await asShop(operatorRequest("archiveCampaign", { params: own }))).body).toMatchObject({
    status: "archived",
  });
});

test("a draft is submitted with its videos that nobody has submitted, each with an entry", async () => {
  const text = `insert into creatives (creative_id, name, kind, url, advertiser_id, review)
    select 'cre_own', 'Own', 'vast', 'https://tags.test/', advertiser_id, 'draft' from advertisers where name = 'Shop'`;
  await two.store.database.run({ name: "", text }, []);
  const drafted = await draft({ formats: ["rewarded"], landingUrl: null, creativeIds: ["cre_own"] });
  const params = { campaignId: String(drafted.body.campaignId) };
  expect((await asShop(operatorRequest("submitCampaign", { params }))).status).toBe(200);
  const video = await asOperator(operatorRequest("showCreative", { params: { creativeId: "cre_own" } }));
  expect(video.body).toMatchObject({ review: "waiting" });
  const entries = await two.store.database.run<{ kind: string }>(
    {
      name: "",
      text: `select object_kind as kind from audit_entries
        where operation = 'submitCampaign' and object_id in ($1, 'cre_own') order by 1`,
    },
    [params.campaignId],
  );
  expect(entries.map(({ kind }) => kind)).toEqual(["campaign", "creative"]);
});

test("what is refused leaves nothing: no message, no submitted video, no new advertiser", async () => {
  const { database } = two.store;
  const count = async (text: string) =>
    (await database.run<{ count: number }>({ name: "", text: `select count(*)::integer as count from ${text}` }, []))[0]
      ?.count;
  const { params, expectedUpdatedAt } = await waiting();
  const reported = await count("alerts");
  const approval = { params, body: { expectedUpdatedAt, viewPriceMicros: 1000 } };
  for (let n = 0; n < 2; n += 1)
    expect((await asOperator(operatorRequest("approveCampaign", approval))).status).toBe(400);
  expect(await count("alerts")).toBe(reported);
  expect(await show(params)).toMatchObject({ review: "waiting" });

  await database.run(
    {
      name: "",
      text: `insert into creatives (creative_id, name, kind, url, advertiser_id, review)
        select 'cre_kept', 'Kept', 'vast', 'https://tags.test/', advertiser_id, 'draft' from advertisers where name = 'Shop'`,
    },
    [],
  );
  const drafted = await draft({ formats: ["rewarded"], landingUrl: null, creativeIds: ["cre_kept"] });
  const ofDraft = { campaignId: String(drafted.body.campaignId) };
  // The advertiser belongs to a sample, so its campaigns must name the sample's bots.
  const sample = `insert into sample (state, bot_ids, advertiser_ids, creative_ids, starts_at, ends_at, written_until)
    select 'added', '{7}', array[advertiser_id], '{}', now() - interval '1 day', now(), now() from advertisers where name = 'Shop'`;
  await database.run({ name: "", text: sample }, []);
  expect((await asShop(operatorRequest("submitCampaign", { params: ofDraft }))).status).toBe(400);
  await database.run({ name: "", text: "delete from sample" }, []);
  expect(await count("creatives where creative_id = 'cre_kept' and review = 'draft'")).toBe(1);
  expect(await count("audit_entries where object_id = 'cre_kept'")).toBe(0);

  const added = { name: "New", advertiser: "Nobody", formats: ["rewarded"] as const, creativeIds: ["cre_none"] };
  const body = { ...added, formats: [...added.formats] };
  expect((await asOperator(operatorRequest("addCampaign", { body }))).status).toBe(404);
  expect(await count("advertisers where name = 'Nobody'")).toBe(0);
});

test("of approvals and revisions at once, on two nodes, nothing runs that was not looked at", async () => {
  const { params, expectedUpdatedAt } = await waiting();
  const all = await two.eightAtOnce(["campaigns"], (node, n) => {
    if (n % 4 < 2) return two.send(node, operatorRequest("approveCampaign", { params, body: { expectedUpdatedAt } }));
    const body = { landingUrl: `https://shop.test/${n}` };
    return asShop(operatorRequest("reviseCampaign", { params, body, query: { confirmed: "true" } }), node);
  });
  const approvals = all.filter((_answer, n) => n % 4 < 2);
  expect(approvals.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  expect(approvals.every(({ status, body }) => status === 200 || body.error?.code === "CAMPAIGN_CHANGED")).toBe(true);
  const { status, review } = await show(params);
  expect([status, review]).toEqual(["paused", "waiting"]);
});

test("of eight revisions at once, on two nodes, none leaves a waiting budget above the money", async () => {
  const { params } = await waiting();
  const all = await two.eightAtOnce(["campaigns"], (node, n) =>
    asShop(operatorRequest("reviseCampaign", { params, body: { totalBudgetMicros: 10e6 + (n - 1) * 1000 } }), node),
  );
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, 200, ...Array(6).fill(400)]);
  expect(Number((await show(params)).totalBudgetMicros)).toBeLessThanOrEqual(10e6);
});

test("eight drafts at once, on two nodes, stay within an advertiser's bound, and a repeated one is one", async () => {
  const fill = `insert into campaigns (campaign_id, name, advertiser_id, formats, status, paused_by, review, landing_url)
    select 'cmp_full' || n, 'Full', advertiser_id, '{direct_link}', 'paused', 'review', 'draft', 'https://shop.test/'
    from advertisers cross join generate_series(1, 97) as n where name = 'Rival'`;
  await two.store.database.run({ name: "", text: fill }, []);
  const body = { name: "Mine", formats: ["direct_link"], landingUrl: "https://rival.test/" };
  const query = { advertiser: "Rival" };
  const same = await two.allAtOnce((node) =>
    two.send(
      node,
      operatorRequest("draftCampaign", { query, body: { ...body, idempotencyKey: "k".repeat(20) } }),
      rival,
    ),
  );
  expect(new Set(same.map((answer) => answer.body.campaignId)).size).toBe(1);
  const all = await two.allAtOnce((node) => two.send(node, operatorRequest("draftCampaign", { query, body }), rival));
  expect(all.map(({ status }) => status).toSorted()).toEqual([201, 201, ...Array(6).fill(409)]);
  expect(all.find(({ status }) => status === 409)?.body.error?.code).toBe("TOO_MANY_DRAFTS");
});

test("an advertiser that archives its drafts drafts so many a day all the same, also with eight at once on two nodes", async () => {
  await asOperator(operatorRequest("addAdvertiser", { body: { name: "Restless" } }));
  const restless = await signIn("Restless");
  const fill = `insert into campaigns (campaign_id, name, advertiser_id, formats, status, review, landing_url, created_at)
    select 'cmp_old' || n, 'Old', advertiser_id, '{direct_link}', 'archived', 'draft', 'https://shop.test/', $1
    from advertisers cross join generate_series(1, 198) as n where name = 'Restless'`;
  const { now } = two.nodes[0].clock;
  await two.store.database.run({ name: "", text: fill }, [now]);
  const body = { name: "Mine", formats: ["direct_link" as const], landingUrl: "https://rival.test/" };
  const draft = operatorRequest("draftCampaign", { query: { advertiser: "Restless" }, body });
  const all = await two.allAtOnce((node) => two.send(node, draft, restless));
  expect(all.map(({ status }) => status).toSorted()).toEqual([201, 201, ...Array(6).fill(409)]);
  expect(all.find(({ status }) => status === 409)?.body.error?.code).toBe("TOO_MANY_DRAFTS_TODAY");
  // The next day.
  const text = "update campaigns set created_at = $1 where campaign_id like 'cmp_old%'";
  await two.store.database.run({ name: "", text }, [new Date(now.getTime() - 86_400_000)]);
  expect((await two.send(two.nodes[0], draft, restless)).status).toBe(201);
});
