import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createCompanion } from "@intermission/publisher/companion";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type CompanionApi, startCompanionApi } from "../../test/fixtures/companion-api-fixture.ts";
import type { RewardsPort } from "../scenario/rewards-port.ts";
import { publisherRewards } from "./publisher-rewards.ts";

const noTasks = { tasks: async () => [] };

let companion: CompanionApi;
let rewards: RewardsPort;
beforeAll(async () => {
  companion = await startCompanionApi();
  rewards = publisherRewards(createCompanion({ url: companion.url, apiKey: companion.apiKey }), { ads: noTasks });
});
afterAll(() => companion.remove());

test("the last payment is found behind many purchases, but not if it is older than the given time", async () => {
  const before = new Date(Date.now() - 1000);
  await companion.deliver({ userId: "15", code: "for-seeds" });
  for (let at = 0; at < 6; at++) await rewards.spend("15", 1, `purchase-${at}`);
  await companion.deliver({ userId: "15", code: "for-seeds", event: "direct_link" });
  const paidAt = await rewards.lastPaidAt("15", before);
  expect(paidAt?.getTime()).toBeGreaterThan(before.getTime());
  expect(await rewards.lastPaidAt("15", paidAt ?? before)).toBeUndefined();
  expect(await rewards.lastPaidAt("16", before)).toBeUndefined();
  expect(await rewards.balance("15")).toBe(4);
});

test("a purchase whose answer was lost is recorded once", async () => {
  await companion.deliver({ userId: "17", code: "one-packet" });
  let calls = 0;
  const proxy = createServer(async (incoming, outgoing) => {
    const { method = "GET", url = "/", headers } = incoming;
    const { authorization = "", "content-type": type = "" } = headers;
    const answer = await fetch(`${companion.url}${url}`, {
      method,
      headers: { authorization, "content-type": type },
      body: await text(incoming),
    });
    const body = await answer.text();
    if (++calls === 1) incoming.socket.destroy();
    else outgoing.writeHead(answer.status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = z.object({ port: z.int() }).parse(proxy.address());
  const lossyCompanion = createCompanion({ url: `http://127.0.0.1:${port}`, apiKey: companion.apiKey });
  const lossy = publisherRewards(lossyCompanion, { ads: noTasks });
  expect(await lossy.spend("17", 8, "one-key")).toMatchObject({ outcome: "spent", balance: 2 });
  expect(calls).toBe(2);
  expect(await rewards.balance("17")).toBe(2);
  proxy.closeAllConnections();
  proxy.close();
});

test("while the ad service is down, creating a code returns unavailable", async () => {
  expect(await rewards.createAd("18")).toMatchObject({ outcome: "unavailable" });
});
