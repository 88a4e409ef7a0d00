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
  for (const name of ["Shop", "Rival"]) await send(operatorRequest("addAdvertiser", { body: { name } }));
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function send({ method, path, body }: ReturnType<typeof operatorRequest>) {
  const headers = { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" };
  const answer = await fetch(`${fixture.address}/operator/v1${path}`, { method, headers, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test("a correction whose answer was lost is recorded once, also if it is repeated at the same moment", async () => {
  const correct = (amountMicros: number, advertiser = "Shop", against?: "cash") => {
    const body = { amountMicros, direction: "credit" as const, note: "Goodwill", against, idempotencyKey };
    return send(operatorRequest("correctAdvertiser", { params: { advertiser }, body }));
  };
  const [first, ...others] = await Promise.all([correct(5e6), correct(5e6), correct(5e6)]);
  expect(first).toMatchObject({ status: 201, body: { balanceMicros: 5e6 } });
  expect(others).toEqual([first, first]);
  for (const other of [await correct(6e6), await correct(5e6, "Rival"), await correct(5e6, "Shop", "cash")])
    expect(other).toMatchObject({ status: 409, body: { error: { code: "IDEMPOTENCY_KEY_REUSED" } } });
  expect(await correct(5e6)).toEqual(first);
});

test("a repeated top-up asks nothing about its own reference, and another one with it does", async () => {
  const topUp = (id: string) => {
    const body = { amountMicros: 7e6, reference: "INV-1", idempotencyKey: id };
    return send(operatorRequest("recordTopUp", { params: { advertiser: "Rival" }, body }));
  };
  const first = await topUp(idempotencyKey);
  expect(first).toMatchObject({ status: 201, body: { balanceMicros: 7e6 } });
  expect(await topUp(idempotencyKey)).toEqual(first);
  expect(await topUp(`${idempotencyKey}-other`)).toMatchObject({
    status: 409,
    body: { error: { code: "CONFIRMATION_NEEDED" } },
  });
  expect(await topUp("short")).toMatchObject({ status: 400 });
});
