import { createHmac } from "node:crypto";
import { type StandardWebhookKey, signStandardWebhook } from "@intermission/ad-core/signature";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { readConfig } from "../config.ts";
import { migrations } from "../migrations.ts";
import { advertiserAccount, sumOfEntries } from "./ledger.ts";

const secret = "p".repeat(32);
const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { paymentWebhookSecret: secret, operatorToken });
  const text =
    "insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop'), ('adv_rival', 'Rival', 'rival')";
  await store.database.run({ name: "", text }, []);
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

const paid = { id: "pay_1", advertiser_id: "adv_shop", amount: "12.50", currency: "USD" };
const balance = () => sumOfEntries(store.database, advertiserAccount("adv_shop"));

interface Webhook {
  event: object;
  id?: string;
  token?: StandardWebhookKey;
  secondsAgo?: number;
  sent?: string;
}

async function deliver({ event, id = "msg_1", token = secret, secondsAgo = 0, sent }: Webhook) {
  const body = JSON.stringify(event);
  const timestampSeconds = Math.floor(fixture.clock.now.getTime() / 1000) - secondsAgo;
  const headers = signStandardWebhook({ id, timestampSeconds, body: Buffer.from(body), tokens: [token] });
  const answer = await fetch(`${fixture.address}/payments/v1/standard`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: sent ?? body,
  });
  return { status: answer.status, body: (await answer.json()) as { outcome?: string; error?: { message: string } } };
}
const succeeded = (data: object = paid) => ({ type: "payment.succeeded", data });

test("a payment is credited once, however often and under whatever message id the provider reports it", async () => {
  const all = await Promise.all([1, 2, 3, 4].map((n) => deliver({ event: succeeded(), id: `msg_${n}` })));
  expect(all.map(({ body }) => body.outcome).sort()).toEqual(["recorded", ...Array(3).fill("recorded-before")]);
  expect(await balance()).toBe(12_500_000n);
  expect((await deliver({ event: succeeded({ ...paid, id: "pay_2" }) })).body.outcome).toBe("recorded");
  expect(await balance()).toBe(25_000_000n);
});

test("a webhook that is forged, changed or replayed later is refused, and credits nothing", async () => {
  const before = await balance();
  const event = succeeded({ ...paid, id: "pay_forged" });
  const refused = [
    await deliver({ event, token: "q".repeat(32) }),
    await deliver({ event, sent: JSON.stringify(succeeded({ ...paid, id: "pay_forged", amount: "1250" })) }),
    await deliver({ event, secondsAgo: 301 }),
    await deliver({ event, secondsAgo: -301 }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  expect(await balance()).toBe(before);
});

test.each([
  ["another currency", { currency: "EUR" }, 400, /in EUR, the ledger in USD/],
  ["an unknown advertiser", { advertiser_id: "adv_nobody" }, 404, /no advertiser adv_nobody/],
  ["a name instead of an id", { advertiser_id: "Shop" }, 400, /advertiser_id/],
  ["a negative amount", { amount: "-5" }, 400, /amount must be/],
  ["an amount as a number", { amount: 5 }, 400, /amount/],
])("a payment with %s is refused with the reason", async (_what, change, status, message) => {
  const before = await balance();
  const answer = await deliver({ event: succeeded({ ...paid, id: "pay_bad", ...change }) });
  expect(answer).toMatchObject({ status, body: { error: { message: expect.stringMatching(message) } } });
  expect(await balance()).toBe(before);
});

test("an event that is no payment is answered, and changes nothing", async () => {
  const before = await balance();
  expect(await deliver({ event: { type: "payment.failed", data: paid } })).toMatchObject({
    body: { outcome: "ignored" },
  });
  expect(await balance()).toBe(before);
});

test("without a secret there is no such route", async () => {
  const without = await openAppFixture(store.database);
  expect((await fetch(`${without.address}/payments/v1/standard`, { method: "POST" })).status).toBe(404);
  await without.close();
});

async function send({ method, path, query = {}, body }: ReturnType<typeof operatorRequest>) {
  const named = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const search = new URLSearchParams(named);
  const answer = await fetch(`${fixture.address}/operator/v1${path}?${search}`, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
const held = async (state = "open") =>
  (await send(operatorRequest("listHeldPayments", { query: { state } }))).body.payments as { heldId: string }[];
const topUp = (reference: string, query = {}) => {
  const body = { amountMicros: 12_500_000, reference };
  return send(operatorRequest("recordTopUp", { params: { advertiser: "adv_shop" }, query, body }));
};

test("a payment that a person has recorded under its reference is held, and credited only by a decision", async () => {
  await topUp("INV-2026-014");
  const before = await balance();
  const event = succeeded({ ...paid, id: "pay_by_hand", reference: "inv 2026 014" });
  expect(await deliver({ event })).toMatchObject({ status: 200, body: { outcome: "held" } });
  expect(await deliver({ event, id: "msg_again" })).toMatchObject({ status: 200, body: { outcome: "held" } });
  const [payment, ...others] = await held();
  expect([payment, others]).toMatchObject([{ paymentId: "pay_by_hand", reason: "reference-known" }, []]);
  expect(await balance()).toBe(before);
  const params = { heldId: payment?.heldId ?? "" };
  expect(await send(operatorRequest("dismissHeldPayment", { params }))).toMatchObject({ body: { state: "dismissed" } });
  expect(await send(operatorRequest("creditHeldPayment", { params }))).toMatchObject({
    status: 409,
    body: { error: { code: "PAYMENT_DECIDED" } },
  });
  expect((await deliver({ event })).body.outcome).toBe("dismissed");
  expect(await balance()).toBe(before);

  await deliver({ event: succeeded({ ...paid, id: "pay_other", reference: "INV2026014" }) });
  const heldId = (await held())[0]?.heldId ?? "";
  expect(await send(operatorRequest("creditHeldPayment", { params: { heldId } }))).toMatchObject({ status: 200 });
  expect(await balance()).toBe(before + 12_500_000n);
  expect((await deliver({ event: succeeded({ ...paid, id: "pay_other" }) })).body.outcome).toBe("recorded-before");
  expect(await held()).toEqual([]);
});

test("several payments of one invoice that the provider reports are credited", async () => {
  const before = await balance();
  for (const id of ["pay_part_1", "pay_part_2"])
    expect((await deliver({ event: succeeded({ ...paid, id, reference: "INV-PARTS" }) })).body.outcome).toBe(
      "recorded",
    );
  expect(await balance()).toBe(before + 25_000_000n);
  expect(await topUp("inv parts")).toMatchObject({ status: 409, body: { error: { code: "CONFIRMATION_NEEDED" } } });
});

test.each([
  ["amount", { amount: "1250.00" }],
  ["advertiser", { advertiser_id: "adv_rival" }],
  ["advertiser, whom nobody knows,", { advertiser_id: "adv_nobody" }],
  ["currency", { currency: "EUR" }],
])("a payment that is reported again with another %s is a conflict, which is listed once", async (what, change) => {
  const id = `pay_${what.slice(0, 6).trim()}_${what.length}`;
  await deliver({ event: succeeded({ ...paid, id }) });
  const before = await balance();
  for (const message of ["msg_1", "msg_2"])
    expect(await deliver({ event: succeeded({ ...paid, id, ...change }), id: message })).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining("reported before with another") } },
    });
  const listed = (await held()).filter((one) => "paymentId" in one && one.paymentId === id);
  expect(listed).toMatchObject([{ reason: "reported-otherwise", knownTransactionId: `payment standard ${id}` }]);
  const params = { heldId: listed[0]?.heldId ?? "" };
  expect(await send(operatorRequest("creditHeldPayment", { params }))).toMatchObject({
    status: 409,
    body: { error: { code: "PAYMENT_NOT_CREDITABLE" } },
  });
  expect((await send(operatorRequest("dismissHeldPayment", { params }))).status).toBe(200);
  expect((await deliver({ event: succeeded({ ...paid, id }) })).body.outcome).toBe("recorded-before");
  expect(await balance()).toBe(before);
});

test("a secret that begins with whsec_ is the decoded bytes, as Standard Webhooks signs", async () => {
  const key = Buffer.alloc(24, 7);
  const { paymentWebhookSecret } = readConfig({
    MODE: "demo",
    ENCRYPTION_KEY: Buffer.alloc(32).toString("base64"),
    PAYMENT_WEBHOOK_SECRET: `whsec_${key.toString("base64")}`,
  });
  const node = await openAppFixture(store.database, { paymentWebhookSecret });
  onTestFinished(() => node.close());
  const body = Buffer.from(JSON.stringify(succeeded({ ...paid, id: "pay_whsec" })));
  const timestamp = String(Math.floor(node.clock.now.getTime() / 1000));
  const signature = createHmac("sha256", key).update(`msg_1.${timestamp}.`).update(body).digest("base64");
  const answer = await fetch(`${node.address}/payments/v1/standard`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": "msg_1",
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    },
    body,
  });
  expect([answer.status, await answer.json()]).toEqual([200, { outcome: "recorded" }]);
});

test.each([
  "whsec_",
  "whsec_c2hvcnQ=",
  `whsec_${"A".repeat(31)}`,
  `whsec_${"-".repeat(32)}`,
  `whsec_${"A".repeat(200)}`,
])("%s is refused at the start", (PAYMENT_WEBHOOK_SECRET) => {
  expect(() => readConfig({ PAYMENT_WEBHOOK_SECRET })).toThrow(
    "PAYMENT_WEBHOOK_SECRET must have 24 to 64 bytes in base64 behind whsec_",
  );
});

test("a payment is not lost for what its reference has in it", async () => {
  const references = ["INV\0 9", "\ud83d", `${"🙂".repeat(100)}`, "\0", ""];
  for (const [position, reference] of references.entries()) {
    const event = succeeded({ ...paid, id: `pay_text_${position}`, reference });
    expect((await deliver({ event, id: `msg_text_${position}` })).body).toEqual({ outcome: "recorded" });
  }
});
