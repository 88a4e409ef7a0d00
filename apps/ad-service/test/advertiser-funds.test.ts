import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exclusionReason } from "../src/ad-selection/eligibility.ts";
import { openLocalTimes } from "../src/ad-selection/local-time.ts";
import { addCampaign, type CampaignDraft } from "../src/campaigns/change-campaign.ts";
import { directLinkRoutes } from "../src/clicks/routes.ts";
import { migrations } from "../src/migrations.ts";
import { advertiserAccount, movement, newTransactionId, recordTransaction } from "../src/money/ledger.ts";
import { setTerms } from "../src/money/terms.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { openDirectLinkFixture } from "./fixtures/direct-link-fixture.ts";
import { stateOf } from "./fixtures/selection-fixture.ts";
import { type Opened, openViewFixture, wholeVideo } from "./fixtures/view-fixture.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

const run = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);
const idOf = async (name: string) =>
  (await run<{ id: string }>("select advertiser_id as id from advertisers where name = $1", name))[0]?.id ?? "";
const spentBy = async (name: string) =>
  Number(
    (
      await run<{ spent: string }>(
        `select coalesce(sum(spent_micros), 0)::text as spent from campaign_days join campaigns using (campaign_id)
         where advertiser_id = $1`,
        await idOf(name),
      )
    )[0]?.spent,
  );

async function payIn(name: string, amountMicros: number): Promise<void> {
  const entries = movement({ from: "cash", to: advertiserAccount(await idOf(name)), amountMicros });
  const [transactionId, at] = [newTransactionId("top_up"), new Date()];
  await recordTransaction(store.database, { transactionId, kind: "top_up", entries, currency: "USD", at });
}

test("two campaigns of a prepaid advertiser never spend more than was paid in, by 64 openings on three nodes, and spend all of it", async () => {
  const fixture = await openViewFixture(store.database, viewPlayerRoutes);
  const sell = async (campaignId: string, viewPriceMicros: number) => {
    const campaign: CampaignDraft & { campaignId: string; now: Date } = {
      campaignId,
      name: campaignId,
      advertiser: "Prepaid views",
      formats: ["rewarded"],
      creativeIds: ["cre_1"],
      priority: "sponsorship",
      viewPriceMicros,
      targeting: { bots: [fixture.botId] },
      now: fixture.clock.now,
    };
    await addCampaign(store.database, campaign);
  };
  await sell("cmp_funds_a", 2500);
  await sell("cmp_funds_b", 2500);
  await setTerms(store.database, {
    advertiserId: await idOf("Prepaid views"),
    billing: "prepaid",
    creditLimitMicros: null,
  });
  await payIn("Prepaid views", 26_000);
  await fixture.campaigns.refresh();
  const nodes = [undefined, await fixture.startNode(), await fixture.startNode()];
  const users = Array.from({ length: 64 }, (_, user) => String(10_000 + user));
  const opened = await Promise.all(users.map((user, index) => fixture.open(user, undefined, nodes[index % 3])));
  const views = opened.map(({ body }) => body as unknown as Opened);
  await Promise.all(views.map((view) => fixture.report(view, { started: true })));
  fixture.advance(10);
  await Promise.all(views.map((view) => fixture.report(view, { reports: wholeVideo(), closed: "tap" })));
  expect(await spentBy("Prepaid views")).toBe(25_000);
  await fixture.close();
});

test("clicks on two nodes and top-ups in turn: what is spent stays within what was paid in, and on credit within its limit", async () => {
  const links = await openDirectLinkFixture(store.database, directLinkRoutes);
  await links.addCampaign("https://shop.test/second");
  let user = 40_000;
  const follow = async (count: number) => {
    const codes = await Promise.all(Array.from({ length: count }, () => links.issue(String(user++))));
    const answers = await Promise.all(codes.map((code, index) => links.visit(code, {}, index % 2)));
    return answers.filter(({ status }) => status === 302).length;
  };
  const terms = { advertiserId: await idOf("Shop"), billing: "prepaid" as const, creditLimitMicros: null };
  await setTerms(store.database, terms);
  await links.refresh();
  expect(await follow(4), "nothing was paid in").toBe(0);
  let paid = 0;
  for (const amount of [4000, 1, 10_499, 3100]) {
    await payIn("Shop", amount);
    paid += amount;
    await links.refresh();
    await follow(14);
    expect(await spentBy("Shop")).toBe(Math.floor(paid / 1500) * 1500);
  }
  await setTerms(store.database, { ...terms, billing: "credit", creditLimitMicros: 3000 });
  await links.refresh();
  await follow(10);
  expect(await spentBy("Shop")).toBe(Math.floor((paid + 3000) / 1500) * 1500);
  await setTerms(store.database, { ...terms, billing: "credit", creditLimitMicros: null });
  await links.refresh();
  expect(await follow(5), "on credit without a limit").toBe(5);
  await links.close();
});

test("explain says that an advertiser has no money left; ads without a price are shown all the same", () => {
  const bot = { botId: "1", category: null, timeZone: "UTC", blockedCategories: [], blockedAdvertisers: [] };
  const request = { format: "rewarded" as const, bot, user: {}, seen: new Map() };
  const curve = Array.from({ length: 24 }, () => 1 / 24);
  const moment = { now: new Date("2026-03-01T12:00:00Z"), curve, localTimes: openLocalTimes() };
  const reasonOf = (viewPriceMicros: number, spentMicros: number) => {
    const funds = { limitMicros: 1000, spentMicros, heldMicros: 100 };
    return exclusionReason(stateOf("cmp_1", { viewPriceMicros, pacing: "asap" }, {}, { funds }), request, moment);
  };
  expect(reasonOf(100, 800)).toBeUndefined();
  expect(reasonOf(100, 801)).toBe("advertiser-funds");
  expect(reasonOf(0, 5000)).toBeUndefined();
});
