import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApi, type TestApi } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

const token = "a-metrics-token-of-more-than-32-characters";
let store: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "api", migrations });
  api = await startTestApi(store.database, { metrics: { port: undefined, host: "127.0.0.1", token } });
});
afterAll(async () => {
  await api.stop();
  await store.dispose();
});

const scrape = async () =>
  (await fetch(`${api.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();

test("each webhook is counted by its outcome, and no user, code or signature is shown", async () => {
  const event = { event: "rewarded", user_tg_id: "501", bot_id: "7000000001", code: "4YQm3XkT7vRbN2hWpz" };
  const id = (number: number) => ({ event_id: `evt_01990000-0000-7000-8000-00000000000${number}` });
  await api.deliver({ ...event, ...id(1) });
  await api.deliver({ ...event, ...id(1) });
  // The code is paid already.
  await api.deliver({ ...event, ...id(2), event: "direct_link" });
  await api.deliver({ hello: "world" });
  await api.deliver(event, { "x-signature": `sha256=${"0".repeat(64)}` });
  await api.deliver(event, { "content-type": "text/plain" });
  const text = await scrape();
  for (const line of [
    'intermission_receipts_total{outcome="credited"} 1',
    'intermission_receipts_total{outcome="refused"} 1',
    'intermission_receipts_total{outcome="duplicate"} 1',
    'intermission_receipts_total{outcome="invalid"} 1',
    'intermission_receipts_total{outcome="unavailable"} 0',
    'intermission_refused_webhooks_total{reason="wrong-signature"} 1',
    'intermission_refused_webhooks_total{reason="wrong-content-type"} 1',
    "intermission_receipt_duration_seconds_count 5",
    "intermission_reward_watchers 0",
    "intermission_reconciled_events_total 0",
    "intermission_reconciliation_age_seconds Nan",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  for (const secret of ["501", "7000000001", "4YQm3XkT7vRbN2hWpz", "evt_"]) expect(text).not.toContain(`"${secret}`);
});

test("without the token there are no metrics", async () => {
  expect((await fetch(`${api.url}/metrics`)).status).toBe(401);
  const closed = await startTestApi(store.database);
  expect((await fetch(`${closed.url}/metrics`, { headers: { authorization: "Bearer undefined" } })).status).toBe(404);
  await closed.stop();
});
