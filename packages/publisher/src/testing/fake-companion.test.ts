import { companionContract } from "@intermission/testing/companion-contract";
import { expect, test, vi } from "vitest";
import { createCompanion } from "../create-companion.ts";
import { followRewards } from "../follow-rewards.ts";
import { fakeCompanion } from "./fake-companion.ts";

companionContract("the fake companion API", async () => {
  const fake = fakeCompanion();
  return {
    url: await fake.listen(),
    apiKey: fake.apiKey,
    botId: fake.botId,
    async earn(code, event, launch) {
      expect(fake.earn(code, event, launch)).toMatchObject({ outcome: "recorded" });
    },
    async earnTask(event, task) {
      fake.earnTask(event, task);
    },
    async sendTest() {
      fake.sendTest();
    },
    close: () => fake.close(),
  };
});

test("a publisher's test needs no network: code, view, ledger, spend", async () => {
  const fake = fakeCompanion({ rewards: { rewarded: 5 } });
  const companion = createCompanion({ url: fake.url, apiKey: fake.apiKey, fetch: fake.fetch });
  const paid = vi.fn();
  const stop = new AbortController();
  const following = followRewards(companion, { read: () => undefined, write: () => {} }, paid, { signal: stop.signal });
  const created = await companion.createCode({ userId: 42, reference: "order 7" });
  const code = created.outcome === "created" ? created.code : "";
  fake.earn(code, "rewarded", { startParam: "ref_7" });
  await vi.waitFor(() => expect(paid).toHaveBeenCalledTimes(1));
  expect(paid.mock.calls).toMatchObject([
    [{ userId: "42", code, amount: 5, reference: "order 7", startParam: "ref_7" }],
  ]);
  expect(await companion.spend({ userId: 42, amount: 2, idempotencyKey: "order 7" })).toMatchObject({ balance: 3 });
  expect(fake.earn(code)).toEqual({ outcome: "already-earned" });
  expect(fake.earn("unknown")).toEqual({ outcome: "unknown-code" });
  stop.abort();
  await following;
  await fake.close();
});

test("a refusal is the test's to decide", async () => {
  const fake = fakeCompanion();
  const companion = createCompanion({ url: fake.url, apiKey: fake.apiKey, fetch: fake.fetch });
  fake.refuseNext({ status: 429, code: "TOO_MANY_REQUESTS", retryAfterSeconds: 60 });
  await expect(companion.balance(42)).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS", retryAfterSeconds: 60 });
  expect(await companion.balance(42)).toBe(0);
});
