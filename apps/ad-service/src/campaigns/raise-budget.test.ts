import { operatorRequest } from "@intermission/operator-api/operator-request";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type NodeAnswer, openTwoNodes, type TwoNodes } from "../../test/fixtures/two-nodes-fixture.ts";
import { budgetFault } from "./raise-budget.ts";

const stored = { totalBudgetMicros: 100, dailyBudgetMicros: null };

test.each([
  [{ totalBudgetMicros: 150 }, { spentMicros: 60n, leftMicros: 90n }, undefined],
  [{ totalBudgetMicros: 151 }, { spentMicros: 60n, leftMicros: 90n }, "ABOVE_MONEY"],
  [{ totalBudgetMicros: 10_000 }, { spentMicros: 60n, leftMicros: null }, undefined],
  [{ totalBudgetMicros: 100 }, { spentMicros: 0n, leftMicros: null }, "ONLY_RAISED"],
  [{ dailyBudgetMicros: 5 }, { spentMicros: 0n, leftMicros: null }, "ONLY_RAISED"],
])("to %j is a fault or none", (raised, facts, code) => {
  expect(budgetFault(stored, raised, facts)?.fault.code).toBe(code);
});

let two: TwoNodes;
let campaignId: string;
beforeAll(async () => {
  two = await openTwoNodes();
  const send = (...request: Parameters<typeof two.send>) => two.send(...request);
  const [node] = two.nodes;
  await send(node, operatorRequest("addAdvertiser", { body: { name: "Shop" } }));
  const topUp = { amountMicros: 10e6, reference: "INV-1" };
  await send(node, operatorRequest("recordTopUp", { params: { advertiser: "Shop" }, body: topUp }));
  const campaign = {
    name: "Spring",
    advertiser: "Shop",
    formats: ["direct_link"],
    landingUrl: "https://shop.test/",
    totalBudgetMicros: 1e6,
  };
  const added = await send(node, operatorRequest("addCampaign", { query: { confirmed: "true" }, body: campaign }));
  campaignId = String(added.body.campaignId);
});
afterAll(() => two.close());

const statuses = (all: readonly NodeAnswer[]) => all.map(({ status }) => status).toSorted();
const raise = (node: TwoNodes["nodes"][number], totalBudgetMicros: number) =>
  two.send(node, operatorRequest("raiseBudget", { params: { campaignId }, body: { totalBudgetMicros } }));

test("of eight requests to raise a budget to the same amount, on two nodes, one raises it", async () => {
  const all = await two.eightAtOnce(["campaigns"], (node) => raise(node, 5e6));
  expect(statuses(all)).toEqual([200, ...Array(7).fill(400)]);
});

test("no request raises a budget above the money that is left", async () => {
  const all = await two.eightAtOnce(["campaigns"], (node, n) => raise(node, 10e6 + n * 1000));
  expect(statuses(all)).toEqual([200, ...Array(7).fill(400)]);
  const shown = await two.send(two.nodes[0], operatorRequest("showCampaign", { params: { campaignId } }));
  expect(shown.body).toMatchObject({ totalBudgetMicros: 10e6 });
});
