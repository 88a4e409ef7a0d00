// @module-tag long
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { signWebhook } from "@intermission/publisher/testing";
import { freePort } from "@intermission/testing/free-port";
import { createServerDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
  Workers: ["memory"],
} satisfies Record<Host, StoreName[]>;
function all(): StoreName[] {
  return ["memory", "SQLite", "PostgreSQL"];
}

let published: Awaited<ReturnType<typeof installPublishedPackage>>;
let installed: Installed;
let database: Awaited<ReturnType<typeof createServerDatabase>>;
const paid = new Map<string, number>();
let isCrashing = false;
/** Counts what the receivers pay, and tells them whether to crash. */
const till = createServer((request, response) => {
  const eventId = (request.url ?? "").slice(1);
  if (request.method === "POST") paid.set(eventId, (paid.get(eventId) ?? 0) + 1);
  response.end(isCrashing ? "yes" : "no");
});

beforeAll(async () => {
  published = await installPublishedPackage();
  installed = await installReceivers(published);
  database = await createServerDatabase();
  await new Promise<void>((resolve) => till.listen(0, "127.0.0.1", resolve));
}, 600_000);
afterAll(async () => {
  till.close();
  await database?.drop();
  await published?.remove();
});

const statusOf = async ({ url }: Receiver, webhook: RequestInit) =>
  (await fetch(url, webhook).catch(() => undefined))?.status;

describe.each(hosts)("a receiver on %s", (host) => {
  test.for(storesOf[host])("pays each event once with a store in %s", { timeout: 240_000 }, async (store, { skip }) => {
    const missing = installed.missing[host];
    if (missing !== undefined) {
      console.log(`!!! ${missing}`);
      skip(missing);
    }
    const data = join(published.project, `data-${randomUUID().replaceAll(/[^a-z]/g, "")}`);
    const settings = {
      host,
      store,
      token,
      data,
      databaseUrl: database.url,
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
