// @module-tag long
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@intermission/postgres/open-database";
import { startTemporaryCluster } from "@intermission/testing/temporary-cluster";
import { expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { startTestApi, testConfig } from "./fixtures/api-fixture.ts";

const issued = { code: "4YAbcdEfghJkLmnPqr", expires_in: 3599, expires_at: "2026-03-01T11:00:00Z" };

test("while the database is down every call answers 503 with Retry-After, nothing is lost, and all work again afterwards", async () => {
  const cluster = await startTemporaryCluster();
  const dataDirectory = mkdtempSync(join(tmpdir(), "outage-"));
  const database = await openDatabase({
    databaseUrl: cluster.url,
    dataDirectory,
    schema: "api",
    migrations,
  });
  const written: string[] = [];
  const adService = { createCode: async () => ({ outcome: "issued" as const, code: issued }) };
  const api = await startTestApi(database, {}, adService, { log: (line) => written.push(line) });
  const headers = { authorization: `Bearer ${testConfig.backendApiKey}`, "content-type": "application/json" };
  const query = (path: string, input: object) =>
    fetch(`${api.url}/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`, { headers });
  const mutate = (path: string, input: object) =>
    fetch(`${api.url}/trpc/${path}`, { method: "POST", headers, body: JSON.stringify(input) });
  const spend = () => mutate("rewards.spend", { userId: "42", amount: 1, idempotencyKey: "an order" });
  const event = { event: "rewarded", user_tg_id: "42", event_id: "evt_during", code: "CodeOfOutage" };
  const calls: Record<string, () => Promise<Response>> = {
    "a query": () => query("rewards.balance", { userId: "42" }),
    "another query": () => query("rewards.list", {}),
    "a mutation": spend,
    "a code": () => mutate("codes.create", { userId: "42" }),
    receipts: () => query("receipts.list", {}),
    "a batch": () => fetch(`${api.url}/trpc/rewards.cursor,rewards.cursor?batch=1&input=%7B%7D`, { headers }),
    "a webhook": () => api.deliver(event),
  };
  try {
    expect((await api.deliver({ ...event, event_id: "evt_before", code: "CodeBefore" })).status).toBe(200);
    await cluster.crash();
    for (let round = 0; round < 2; round++) {
      for (const [name, call] of Object.entries(calls)) {
        const response = await call();
        expect({ name, status: response.status, text: await response.text() }).toMatchObject({ name, status: 503 });
        expect(Number(response.headers.get("retry-after")), name).toBeGreaterThan(0);
      }
    }
    expect(written.length).toBeGreaterThan(0);
    for (const line of written) expect(line).not.toMatch(/"stack"|\\n\s+at /);

    await cluster.restart();
    await expect.poll(async () => (await api.deliver(event)).status, { timeout: 20_000 }).toBe(200);
    expect(await (await spend()).json()).toMatchObject({ result: { data: { outcome: "spent", balance: 19 } } });
    for (const [name, call] of Object.entries(calls))
      expect({ name, status: (await call()).status }).toEqual({ name, status: 200 });
    expect(await api.client().rewards.balance.query({ userId: "42" })).toEqual({ balance: 19 });
  } finally {
    await api.stop();
    await database.close();
    await cluster.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}, 120_000);

test("a watch that an outage breaks reconnects automatically, without a gap or a repeat", async () => {
  const cluster = await startTemporaryCluster();
  const dataDirectory = mkdtempSync(join(tmpdir(), "outage-"));
  const database = await openDatabase({
    databaseUrl: cluster.url,
    dataDirectory,
    schema: "api",
    migrations,
  });
  const api = await startTestApi(database);
  const seen: (string | null)[] = [];
  try {
    const { cursor } = await api.client().rewards.cursor.query();
    const watch = api.watch(cursor, (entry) => seen.push(entry.eventId));
    await api.deliver({ event: "rewarded", user_tg_id: "42", event_id: "evt_before" });
    await expect.poll(() => seen).toEqual(["evt_before"]);
    await cluster.restart();
    const after = { event: "rewarded", user_tg_id: "42", event_id: "evt_after" };
    await expect.poll(async () => (await api.deliver(after)).status, { timeout: 20_000 }).toBe(200);
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual(["evt_before", "evt_after"]);
    watch.stop();
  } finally {
    await api.stop();
    await database.close();
    await cluster.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}, 120_000);
