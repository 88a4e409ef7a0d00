import { signStandardWebhook } from "@intermission/ad-core/signature";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";
import { advertiserAccount, sumOfEntries } from "./ledger.ts";

const secret = "p".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { paymentWebhookSecret: secret });
  const text = "insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop')";
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
  token?: string;
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
