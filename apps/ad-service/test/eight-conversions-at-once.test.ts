import { operatorRequest } from "@intermission/operator-api/operator-request";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AppFixture } from "./fixtures/app-fixture.ts";
import { paidClick } from "./fixtures/paid-click.ts";
import { openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

let two: TwoNodes;
let key: string;
let botId: string;
const run = <Row>(text: string, ...values: unknown[]) => two.store.database.run<Row>({ name: "", text }, values);

beforeAll(async () => {
  two = await openTwoNodes();
  const body = {
    advertiser: "Shop",
    name: "Sale",
    formats: ["direct_link" as const],
    landingUrl: "https://shop.example",
    clickPriceMicros: 10_000,
  };
  await two.send(two.nodes[0], operatorRequest("addCampaign", { query: { confirmed: "true" }, body }));
  const issued = await two.send(two.nodes[0], operatorRequest("issuePostbackKey", { params: { advertiser: "Shop" } }));
  key = String(issued.body.key);
  ({ botId } = await two.nodes[0].newBot());
});
afterAll(() => two.close());

const click = () => paidClick(two.store.database, { botId, now: two.nodes[0].clock.now });

async function report(node: AppFixture, clickId: string, conversionId: string) {
  const query = new URLSearchParams({ click_id: clickId, key, conversion_id: conversionId });
  const answer = await fetch(`${node.address}/postback/v1/conversions?${query}`);
  return { status: answer.status, body: (await answer.json()) as { outcome?: string; error?: { code: string } } };
}

const recorded = async (clickId: string) =>
  (await run<{ count: number }>("select count(*)::integer as count from conversions where click_id = $1", clickId))[0]
    ?.count;

test("a click with 99 conversions takes one of eight more", async () => {
  const clickId = await click();
  for (let n = 0; n < 99; n++) expect((await report(two.nodes[0], clickId, `order-${n}`)).status).toBe(200);
  const all = await two.eightAtOnce(["conversions"], (node, n) => report(node, clickId, `more-${n}`));
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  expect(await recorded(clickId)).toBe(100);
});

test("a conversion that is reported eight times is recorded once, and each report is answered", async () => {
  const clickId = await click();
  const all = await two.eightAtOnce(["conversions"], (node) => report(node, clickId, "order"));
  expect(all.map(({ body }) => body.outcome).toSorted()).toEqual(["recorded", ...Array(7).fill("repeated")]);
  expect(await recorded(clickId)).toBe(1);
});

test("a conversion that is reversed eight times is subtracted once", async () => {
  const clickId = await click();
  await report(two.nodes[0], clickId, "order");
  const body = { clickId, event: "", conversionId: "order" };
  const all = await two.eightAtOnce(["conversions"], (node) =>
    two.send(node, operatorRequest("reverseConversion", { body })),
  );
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  expect(await run("select count(*)::integer as count from conversion_reversals")).toEqual([{ count: 1 }]);
});

test("a click that is refunded eight times is refunded once", async () => {
  const clickId = await click();
  const all = await two.eightAtOnce(["refunds"], (node) =>
    two.send(node, operatorRequest("refundClick", { params: { clickId } })),
  );
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  expect(await run("select count(*)::integer as count from refunds")).toEqual([{ count: 1 }]);
});

test("a held click that is released and refused eight times is decided once", async () => {
  const clickId = "clk_held";
  await run(
    `insert into withheld_clicks (bot_id, click_id, code, user_id, campaign_id, outcome, occurred_at)
     select $1, $2, 'code-of-held', '1', campaign_id, 'held', $3 from campaigns`,
    botId,
    clickId,
    two.nodes[0].clock.now,
  );
  const all = await two.eightAtOnce(["events", "withheld_clicks"], (node, n) =>
    two.send(node, operatorRequest(n % 2 === 0 ? "releaseClick" : "refuseClick", { params: { clickId } })),
  );
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  const isReleased = all.findIndex(({ status }) => status === 200) % 2 === 0;
  const earned = await run("select count(*)::integer as count from events where code = 'code-of-held'");
  expect(earned).toEqual([{ count: isReleased ? 1 : 0 }]);
});
