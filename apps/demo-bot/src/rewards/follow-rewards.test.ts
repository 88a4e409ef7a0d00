import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { type CompanionApi, startCompanionApi } from "../../test/fixtures/companion-api-fixture.ts";
import { followRewards, type RewardEntry } from "./follow-rewards.ts";
import { createPublisherApi, type PublisherApi } from "./publisher-api.ts";
import { publisherRewards } from "./publisher-rewards.ts";

let companion: CompanionApi;
let api: PublisherApi;
beforeAll(async () => {
  companion = await startCompanionApi();
  api = createPublisherApi({ url: companion.url, apiKey: companion.apiKey });
});
afterAll(() => companion.remove());

/** Follows the feed and stores the cursor in a file of this name. */
function follow(file: string, onEntry: (entry: RewardEntry) => Promise<void> = async () => {}) {
  const codes: (string | null)[] = [];
  const troubles: unknown[] = [];
  const path = join(companion.folder, "places", file);
  const following = followRewards({
    api,
    file: path,
    async onEntry(entry) {
      await onEntry(entry);
      codes.push(entry.code);
    },
    onTrouble: (error) => void troubles.push(error),
  });
  const hasHeard = (...expected: string[]) =>
    vi.waitFor(() => expect(codes).toEqual(expected), { timeout: 15_000, interval: 50 });
  return { ...following, codes, troubles, hasHeard, path };
}

test("no entry is missed or repeated across restarts of the bot and of the API", async () => {
  await companion.deliver({ userId: "11", code: "before-the-first-start" });
  const first = follow("restarts");
  await first.hasHeard("before-the-first-start");
  await companion.deliver({ userId: "11", code: "live" });
  await first.hasHeard("before-the-first-start", "live");
  await first.stop();

  await companion.deliver({ userId: "12", code: "bot-was-down" });
  const second = follow("restarts");
  await second.hasHeard("bot-was-down");

  await companion.kill();
  await companion.start();
  await companion.deliver({ userId: "11", code: "api-was-down" });
  await second.hasHeard("bot-was-down", "api-was-down");
  await second.stop();
  expect(readFileSync(second.path, "utf8").trim()).not.toBe("");
}, 60_000);

test("an entry whose handler failed is retried before later entries", async () => {
  const place = follow("failures");
  await vi.waitFor(() => expect(place.codes.length).toBeGreaterThan(0));
  await place.stop();

  let failures = 2;
  const second = follow("failures", async ({ code }) => {
    if (code === "stubborn" && failures-- > 0) throw new Error("the messenger is down");
  });
  await companion.deliver({ userId: "13", code: "stubborn" });
  await companion.deliver({ userId: "13", code: "behind" });
  await vi.waitFor(() => expect(second.codes.slice(-2)).toEqual(["stubborn", "behind"]), { timeout: 15_000 });
  expect(second.codes.filter((code) => code === "stubborn")).toHaveLength(1);
  expect(second.troubles).toEqual([new Error("the messenger is down"), new Error("the messenger is down")]);
  await second.stop();
}, 30_000);

test("after a stop no entry is handled", async () => {
  const place = follow("stopped");
  await place.stop();
  await companion.deliver({ userId: "14", code: "unheard" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(place.codes).toEqual([]);
});

test("the last payment is found behind many purchases, but not if it is older than the given time", async () => {
  const rewards = publisherRewards(api);
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
  const lossy = publisherRewards(createPublisherApi({ url: `http://127.0.0.1:${port}`, apiKey: companion.apiKey }));
  expect(await lossy.spend("17", 8, "one-key")).toMatchObject({ outcome: "spent", balance: 2 });
  expect(calls).toBe(2);
  expect(await publisherRewards(api).balance("17")).toBe(2);
  proxy.closeAllConnections();
  proxy.close();
});

test("while the ad service is down, creating a code returns unavailable", async () => {
  expect(await publisherRewards(api).createAd("18")).toMatchObject({ outcome: "unavailable" });
});
