// @module-tag enlarged
// @module-tag long
import { sign } from "@intermission/ad-core/signature";
import { type ErrorForm, findFaults, type Sample } from "@intermission/testing/malformed/find-faults";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import { startOfLedger } from "../src/ledger/watch-rewards.ts";
import { migrations } from "../src/migrations.ts";
import { startTestApi, testConfig, testToken } from "./fixtures/api-fixture.ts";

const issued = { code: "4YAbcdEfghJkLmnPqr", expires_in: 3599, expires_at: "2026-03-01T11:00:00Z" };
const count = process.env.LONG_TESTS === "true" ? 10_000 : 2000;
const backend = { authorization: `Bearer ${testConfig.backendApiKey}` };
const json = { "content-type": "application/json" };

test(`${count} malformed requests cause no 5xx, no hang and no stack, and each error has the form of its surface`, async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  const written: string[] = [];
  const adService = { createCode: async () => ({ outcome: "issued" as const, code: issued }) };
  const api = await startTestApi(store.database, {}, adService, { log: (line) => written.push(line) });
  try {
    const options = { address: api.url, seed: 20, count, samples: samples(), formsAt, written };
    const { faults, statuses } = await findFaults(options);
    expect(faults).toEqual([]);
    for (const status of ["200", "400", "401", "404", "405", "413", "415", "431"]) {
      expect(statuses[status], status).toBeGreaterThan(0);
    }
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
  } finally {
    await api.stop();
    await store.dispose();
  }
}, 400_000);

/** An unreadable request has no path yet: it may get the error body on any surface. */
function formsAt(target: string): ErrorForm[] {
  return /^\/trpc(\/|\?|$)/.test(target) ? ["trpc", "json"] : ["json"];
}

function samples(): Sample[] {
  const query = (path: string, input: unknown, headers: Record<string, string> = backend): Sample => ({
    method: "GET",
    path: `/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`,
    headers,
  });
  const mutate = (path: string, body: object): Sample => ({
    method: "POST",
    path: `/trpc/${path}`,
    headers: { ...backend, ...json },
    body,
  });
  const event = { event: "rewarded", user_tg_id: "42", event_id: "evt_1", bot_id: testConfig.botId, code: "Code1" };
  const spend = { userId: "42", amount: 1, idempotencyKey: "an order", note: "a note" };
  const text = JSON.stringify(event);
  const signature = sign(Buffer.from(text), testToken);
  return [
    { method: "POST", path: "/webhooks/ads", headers: { ...json, "x-signature": signature }, body: text },
    { method: "POST", path: "/webhooks/ads", headers: { ...json, "x-signature": signature }, body: event },
    {
      method: "POST",
      path: `/webhooks/ads/${testConfig.botId}`,
      body: text,
      headers: { ...json, "x-signature": signature },
    },
    query("rewards.balance", { userId: "42" }),
    query("rewards.list", { userId: "42", limit: 5 }),
    query("rewards.status", { code: "Code1", userId: "42", event: "rewarded" }),
    query("rewards.watch", { lastEventId: startOfLedger }, {}),
    query("receipts.latest", { limit: 5 }),
    query("receipts.list", { outcome: "credited", userId: "42", since: "2026-01-01T00:00:00Z", limit: 10 }),
    query("receipts.refused", { since: "2026-01-01T00:00:00Z" }),
    {
      method: "GET",
      path: "/trpc/rewards.cursor,rewards.balance?batch=1&input=%7B%221%22%3A%7B%22userId%22%3A%221%22%7D%7D",
      headers: backend,
    },
    mutate("rewards.spend", spend),
    mutate("codes.create", { userId: "42", reference: "an order" }),
    { method: "GET", path: "/v1/rewards/list?userId=42&limit=5", headers: backend },
    { method: "POST", path: "/v1/rewards/spend", headers: { ...backend, ...json }, body: spend },
    mutate("telegramUser.signIn", { initData: "user=1&hash=0" }),
    { ...mutate("rewards.spend?batch=1", { 0: { userId: "42", amount: 1, idempotencyKey: "another" } }) },
    {
      method: "OPTIONS",
      path: "/trpc/rewards.status",
      headers: { origin: "https://ads.example", "access-control-request-method": "GET" },
    },
    { method: "GET", path: "/healthz" },
    { method: "GET", path: "/readyz" },
  ];
}
