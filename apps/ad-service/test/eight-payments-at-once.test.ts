import { signStandardWebhook } from "@intermission/ad-core/signature";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { usualTerms } from "@intermission/operator-api/terms";
import { afterAll, beforeAll, expect, test } from "vitest";
import { advertiserAccount, publisherAccount, sumOfEntries } from "../src/money/ledger.ts";
import type { AppFixture } from "./fixtures/app-fixture.ts";
import { type NodeAnswer, openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

const secret = "p".repeat(32);
let two: TwoNodes;
let advertiserId: string;
let botId: string;
beforeAll(async () => {
  two = await openTwoNodes({ paymentWebhookSecret: secret });
  const added = await two.send(two.nodes[0], operatorRequest("addAdvertiser", { body: { name: "Shop" } }));
  advertiserId = String(added.body.advertiserId);
  ({ botId } = await two.nodes[0].newBot());
});
afterAll(() => two.close());

const balance = () => sumOfEntries(two.store.database, advertiserAccount(advertiserId));
const statuses = (all: readonly NodeAnswer[]) => all.map(({ status }) => status).toSorted();
const codes = (all: readonly NodeAnswer[]) => all.flatMap(({ body }) => body.error?.code ?? []);
const key = (n: number | string) => `key-of-a-request-${n}`;

function topUp(node: AppFixture, body: { reference: string; idempotencyKey?: string; amountMicros?: number }) {
  const input = { params: { advertiser: "Shop" }, body: { amountMicros: 100e6, ...body } };
  return two.send(node, operatorRequest("recordTopUp", input));
}

test("of eight top-ups with one reference, as people read it, one is recorded and the others ask", async () => {
  const spelled = ["INV-1", "inv-1", "INV 1", "Inv–1", "INV1", "ＩＮＶ－１", "INV_1", "i-n-v-1"];
  const all = await two.eightAtOnce(["money_transactions"], (node, n) => topUp(node, { reference: spelled[n] ?? "" }));
  expect(statuses(all)).toEqual([201, ...Array(7).fill(409)]);
  expect(new Set(codes(all))).toEqual(new Set(["CONFIRMATION_NEEDED"]));
  expect(await balance()).toBe(100_000_000n);
});

test("a top-up that is repeated eight times with its key has one entry, and each repeat gets the recorded answer", async () => {
  const before = await balance();
  const all = await two.eightAtOnce(["money_transactions"], (node) =>
    topUp(node, { reference: "INV-2", idempotencyKey: key("top-up") }),
  );
  expect(statuses(all)).toEqual(Array(8).fill(201));
  expect(new Set(all.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(await balance()).toBe(before + 100_000_000n);
});

test("of eight different requests under one key one is recorded, whoever's account they are about", async () => {
  await two.send(two.nodes[0], operatorRequest("addAdvertiser", { body: { name: "Rival" } }));
  const all = await two.eightAtOnce(["money_transactions"], (node, n) => {
    const body = { amountMicros: 1e6, reference: "INV-3", idempotencyKey: key("one") };
    return two.send(node, operatorRequest("recordTopUp", { params: { advertiser: n < 4 ? "Shop" : "Rival" }, body }));
  });
  expect(statuses(all)).toEqual([...Array(4).fill(201), ...Array(4).fill(409)]);
  expect(codes(all)).toEqual(Array(4).fill("IDEMPOTENCY_KEY_REUSED"));
});

test.each([
  ["an advertiser's account", "correctAdvertiser"],
  ["a publisher's account", "correctPublisher"],
] as const)("a correction of %s that is repeated eight times with its key is recorded once", async (_what, route) => {
  const body = { amountMicros: 5e6, direction: "credit", note: "Goodwill", idempotencyKey: key(route) };
  const request =
    route === "correctAdvertiser"
      ? operatorRequest(route, { params: { advertiser: "Shop" }, body })
      : operatorRequest(route, { params: { botId }, body });
  const account = route === "correctAdvertiser" ? advertiserAccount(advertiserId) : publisherAccount(botId);
  const before = await sumOfEntries(two.store.database, account);
  const all = await two.eightAtOnce(["money_transactions"], (node) => two.send(node, request));
  expect(statuses(all)).toEqual(Array(8).fill(201));
  expect(new Set(all.map(({ body: answer }) => JSON.stringify(answer))).size).toBe(1);
  expect(await sumOfEntries(two.store.database, account)).toBe(before + 5_000_000n);
});

test("of eight changes of the same terms one is set, and the others say that they have read older ones", async () => {
  const all = await two.eightAtOnce(["advertisers"], (node, n) => {
    const expected = usualTerms;
    const body = { billing: "credit", creditLimitMicros: (n + 1) * 1e6, expected };
    return two.send(node, operatorRequest("setTerms", { params: { advertiser: "Shop" }, body }));
  });
  expect(statuses(all)).toEqual([200, ...Array(7).fill(409)]);
  expect(new Set(codes(all))).toEqual(new Set(["TERMS_CHANGED"]));
});

test("of eight renames of an advertiser, all by who has read the same name, one is made", async () => {
  const added = await two.send(two.nodes[0], operatorRequest("addAdvertiser", { body: { name: "Mill" } }));
  const params = { advertiser: String(added.body.advertiserId) };
  const all = await two.eightAtOnce(["advertisers"], (node, n) => {
    const body = { name: `Mill ${n}`, expected: { name: "Mill" } };
    return two.send(node, operatorRequest("updateAdvertiser", { params, body }));
  });
  expect(statuses(all)).toEqual([200, ...Array(7).fill(409)]);
  expect(new Set(codes(all))).toEqual(new Set(["ADVERTISER_CHANGED"]));
});

async function payOut(node: AppFixture, idempotencyKey?: string) {
  const body = { month: "2026-02", reference: "SEPA 1", idempotencyKey };
  return two.send(node, operatorRequest("recordPayout", { params: { botId }, body }));
}

test("of eight payouts of a month one is recorded; under one key each repeat gets its answer", async () => {
  const until = "update money_progress set settled_until = '2026-03-01T12:00:00Z'";
  await two.store.database.run({ name: "", text: until }, []);
  const back = "2026-02-10T00:00:00Z";
  two.nodes[0].clock.now = new Date(back);
  const body = { amountMicros: 7e6, direction: "credit", note: "Of February" };
  await two.send(two.nodes[0], operatorRequest("correctPublisher", { params: { botId }, body }));
  two.nodes[0].clock.now = two.nodes[1].clock.now;
  const same = await two.eightAtOnce(["money_transactions"], (node) => payOut(node, key("payout")));
  expect(statuses(same)).toEqual(Array(8).fill(201));
  expect(new Set(same.map(({ body: answer }) => JSON.stringify(answer))).size).toBe(1);
  expect(same[0]?.body).toMatchObject({ amountMicros: 7e6 });
  const others = await two.eightAtOnce(["money_transactions"], (node, n) => payOut(node, n < 4 ? undefined : key(n)));
  expect(statuses(others)).toEqual(Array(8).fill(409));
  expect(new Set(codes(others))).toEqual(new Set(["PAID"]));
  const paid = "select count(*)::integer as count from money_entries where kind = 'payout' and account = 'cash'";
  expect(await two.store.database.run({ name: "", text: paid }, [])).toEqual([{ count: 1 }]);
});

async function deliver(node: AppFixture, n: number, data: { id: string; amount?: string; reference?: string }) {
  const event = { advertiser_id: advertiserId, currency: "USD", amount: "12.50", ...data };
  const body = JSON.stringify({ type: "payment.succeeded", data: event });
  const timestampSeconds = Math.floor(node.clock.now.getTime() / 1000);
  const headers = signStandardWebhook({ id: `msg_${n}`, timestampSeconds, body: Buffer.from(body), tokens: [secret] });
  const answer = await fetch(`${node.address}/payments/v1/standard`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as NodeAnswer["body"] };
}

test("a payment that its provider reports eight times is credited once", async () => {
  const before = await balance();
  const all = await two.eightAtOnce(["money_transactions"], (node, n) => deliver(node, n, { id: "pay_1" }));
  expect(all.map(({ body }) => body.outcome).toSorted()).toEqual(["recorded", ...Array(7).fill("recorded-before")]);
  expect(await balance()).toBe(before + 12_500_000n);
});

test("of four top-ups by hand and four reports of the provider, all of one invoice, one is credited", async () => {
  const before = await balance();
  const all = await two.eightAtOnce(["money_transactions", "held_payments"], (node, n) =>
    n < 4
      ? topUp(node, { reference: "INV-77", amountMicros: 12_500_000 })
      : deliver(node, n, { id: "pay_77", reference: "inv 77" }),
  );
  expect(all.filter(({ status }) => status >= 500)).toEqual([]);
  expect(await balance()).toBe(before + 12_500_000n);
});

test("a held payment that is credited eight times is credited once", async () => {
  await topUp(two.nodes[0], { reference: "INV-78" });
  await deliver(two.nodes[0], 1, { id: "pay_78", reference: "INV-78" });
  const { body } = await two.send(two.nodes[0], operatorRequest("listHeldPayments", { query: { state: "open" } }));
  const held = (body.payments as { heldId: string; paymentId: string }[]).find(
    ({ paymentId }) => paymentId === "pay_78",
  );
  const before = await balance();
  const params = { heldId: held?.heldId ?? "" };
  const all = await two.eightAtOnce(["money_transactions", "held_payments"], (node, n) =>
    two.send(node, operatorRequest(n < 4 ? "creditHeldPayment" : "dismissHeldPayment", { params })),
  );
  expect(statuses(all)).toEqual([200, ...Array(7).fill(409)]);
  const isCredited = all.findIndex(({ status }) => status === 200) < 4;
  expect(await balance()).toBe(before + (isCredited ? 12_500_000n : 0n));
});
