// @module-tag long
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  type D1Database,
  type D1Statement,
  d1Store,
  durableObjectStore,
  redisStore,
} from "@intermission/publisher/stores";
import { signWebhook } from "@intermission/publisher/testing";
import { freePort } from "@intermission/testing/free-port";
import {
  committingStoreContract,
  renewingStoreContract,
  sharedStoreContract,
  storeContract,
} from "@intermission/testing/store-contract";
import { createServerDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findRedis } from "../../../scripts/find-programs.ts";
import { installPublishedPackage } from "./fixtures/published-package.ts";
import {
  type Host,
  hosts,
  type Installed,
  installReceivers,
  type Receiver,
  type StoreName,
  startReceiver,
} from "./fixtures/receivers.ts";

const token = "ad_test";
/** What each store keeps where; those that lose it with their process cannot know an event after a crash. */
const storesOf = {
  "node:http": all(),
  Express: all(),
  Fastify: all(),
  Hono: all(),
  Next: all(),
  Nest: all(),
  Bun: all(),
  Deno: all(),
  Workers: ["memory", "D1", "Durable Objects"],
} satisfies Record<Host, StoreName[]>;
function all(): StoreName[] {
  return ["memory", "SQLite", "PostgreSQL", "Redis"];
}

let published: Awaited<ReturnType<typeof installPublishedPackage>>;
let installed: Installed;
let database: Awaited<ReturnType<typeof createServerDatabase>>;
let redis: { url: string; stop(): void } | undefined;
const paid = new Map<string, number>();
let isCrashing = false;
/** Counts what the receivers pay, and tells them whether to crash. */
const till = createServer((request, response) => {
  const eventId = (request.url ?? "").slice(1);
  if (request.method === "POST") paid.set(eventId, (paid.get(eventId) ?? 0) + 1);
  response.end(isCrashing ? "yes" : "no");
});

async function startRedis() {
  const found = findRedis();
  if ("missing" in found) return undefined;
  const port = await freePort();
  const words = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", published.project];
  const child = spawn(found.path, words, { stdio: "ignore" });
  return { url: `redis://127.0.0.1:${port}`, stop: () => child.kill("SIGKILL") };
}

beforeAll(async () => {
  published = await installPublishedPackage();
  installed = await installReceivers(published);
  database = await createServerDatabase();
  redis = await startRedis();
  await new Promise<void>((resolve) => till.listen(0, "127.0.0.1", resolve));
}, 600_000);
afterAll(async () => {
  till.close();
  redis?.stop();
  await database?.drop();
  await published?.remove();
});

/** Why this host or store cannot be tested here. */
function missingFor(host: Host, store: StoreName): string | undefined {
  if (store === "Redis" && redis === undefined)
    return `${host} with Redis was not tested: redis-server is not installed`;
  return installed.missing[host];
}

const statusOf = async ({ url }: Receiver, webhook: RequestInit) =>
  (await fetch(url, webhook).catch(() => undefined))?.status;

describe.each(hosts)("a receiver on %s", (host) => {
  test.for(storesOf[host])("pays each event once with a store in %s", { timeout: 240_000 }, async (store, { skip }) => {
    const missing = missingFor(host, store);
    if (missing !== undefined) {
      console.log(`!!! ${missing}`);
      skip(missing);
    }
    const data = join(published.project, `data-${randomUUID().replaceAll(/[^a-z]/g, "")}`);
    if (host === "Workers") mkdirSync(data);
    const settings = {
      host,
      store,
      token,
      data,
      databaseUrl: database.url,
      redisUrl: redis?.url ?? "",
      till: `http://127.0.0.1:${(till.address() as AddressInfo).port}`,
    };
    const port = await freePort();
    let receiver = await startReceiver(installed, settings, port);
    const event = (eventId: string, reference?: string) => signWebhook({ userId: "42", eventId, reference }, token);
    const newId = () => `evt_${randomUUID()}`;
    try {
      const twice = newId();
      expect([await statusOf(receiver, event(twice)), await statusOf(receiver, event(twice))]).toEqual([200, 200]);
      expect(paid.get(twice)).toBe(1);

      const together = newId();
      const statuses = await Promise.all(Array.from({ length: 8 }, () => statusOf(receiver, event(together))));
      expect(statuses).toContain(200);
      expect(statuses.filter((status) => status !== 200 && status !== 500)).toEqual([]);
      expect(await statusOf(receiver, event(together))).toBe(200);
      expect(paid.get(together)).toBe(1);

      // The process dies after the event was claimed, and before it is paid and stored as handled.
      const crashed = newId();
      isCrashing = true;
      const lost = statusOf(receiver, event(crashed, "crash"));
      if (host === "Workers") await new Promise((resolve) => setTimeout(resolve, 500));
      else expect(await lost).toBeUndefined();
      await receiver.kill();
      expect(await lost).not.toBe(200);
      isCrashing = false;
      receiver = await startReceiver(installed, settings, port);
      const delivered = receiver;
      await expect.poll(() => statusOf(delivered, event(crashed, "crash")), { timeout: 30_000 }).toBe(200);
      expect(await statusOf(receiver, event(crashed, "crash"))).toBe(200);
      expect(paid.get(crashed)).toBe(1);
      // What was paid before the crash.
      for (const eventId of store === "memory" ? [] : [twice, together]) {
        expect(await statusOf(receiver, event(eventId))).toBe(200);
        expect(paid.get(eventId)).toBe(1);
      }
    } finally {
      isCrashing = false;
      await receiver.kill();
    }
  });
});

interface RedisConnection {
  connect(): Promise<Parameters<typeof redisStore>[0] & { destroy(): void }>;
}
async function redisPlace() {
  if (redis === undefined) return { missing: "a store in Redis, since redis-server is not installed" };
  const { createClient } = installed.load<{ createClient(options: object): RedisConnection }>("redis");
  const client = await createClient({ url: redis.url }).connect();
  return { open: (lengths: object) => redisStore(client, lengths), close: async () => client.destroy() };
}

async function startEmptyWorker() {
  const data = join(published.project, `worker-${randomUUID()}`);
  mkdirSync(data);
  const flare = await installed.startWorker({}, data);
  return flare;
}
async function d1Place() {
  const { Workers: missing } = installed.missing;
  if (missing !== undefined) return { missing };
  const flare = await startEmptyWorker();
  const d1 = (await flare.getD1Database("DB")) as D1Database<D1Statement>;
  await d1.prepare("create table coins (event_id text)").all();
  return {
    open({ leaseMs }: { leaseMs: number }) {
      const store = d1Store(d1, { leaseMs });
      const pay = (event: string, write?: () => void) => {
        const insert = d1.prepare("insert into coins values (?)").bind(event);
        return store.commit(event, write ? [insert, d1.prepare("insert into coins select inside()")] : [insert]);
      };
      return { ...store, pay };
    },
    coins: async (event: string) =>
      (await d1.prepare("select * from coins where event_id = ?").bind(event).all()).results.length,
    close: () => flare.dispose(),
  };
}
async function durableObjectPlace() {
  const { Workers: missing } = installed.missing;
  if (missing !== undefined) return { missing };
  const flare = await startEmptyWorker();
  type Namespace = Parameters<typeof durableObjectStore>[0];
  const namespace = (await flare.getDurableObjectNamespace("EVENTS")) as Namespace;
  return { open: (lengths: object) => durableObjectStore(namespace, lengths), close: () => flare.dispose() };
}

for (const [name, openPlace] of [
  ["Redis itself", redisPlace],
  ["D1 of workerd", d1Place],
  ["Durable Objects of workerd", durableObjectPlace],
] as const) {
  storeContract(name, openPlace);
  sharedStoreContract(name, openPlace);
}
renewingStoreContract("Redis itself", redisPlace);
renewingStoreContract("Durable Objects of workerd", durableObjectPlace);
committingStoreContract("D1 of workerd", d1Place);
