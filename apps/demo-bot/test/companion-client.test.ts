import { join } from "node:path";
import {
  type CreateCodeOutcome,
  createCompanion,
  followRewards,
  type RewardEntry,
  type RewardPage,
  type SpendOutcome,
} from "@intermission/publisher/companion";
import type { AppRouter } from "@intermission/publisher/companion-router";
import type { inferRouterOutputs } from "@trpc/server";
import { afterAll, beforeAll, expect, expectTypeOf, test, vi } from "vitest";
import { cursorFile } from "../src/rewards/cursor-file.ts";
import { type CompanionApi, startCompanionApi } from "./fixtures/companion-api-fixture.ts";

let api: CompanionApi;
let companion: ReturnType<typeof createCompanion>;
beforeAll(async () => {
  api = await startCompanionApi();
  companion = createCompanion({ url: api.url, apiKey: api.apiKey });
});
afterAll(() => api.remove());

/** Follows the ledger from the cursor in a file of this name, and keeps the codes of its entries. */
function follow(file: string, handle: (entry: RewardEntry) => void = () => {}) {
  const abort = new AbortController();
  const codes: (string | null)[] = [];
  const errors: unknown[] = [];
  const onEntry = (entry: RewardEntry) => {
    handle(entry);
    codes.push(entry.code);
  };
  const ended = followRewards(companion, cursorFile(join(api.folder, "cursors", file)), onEntry, {
    signal: abort.signal,
    onError: (error) => void errors.push(error),
  });
  const stop = () => {
    abort.abort();
    return ended;
  };
  const hasHeard = (...expected: string[]) =>
    vi.waitFor(() => expect(codes).toEqual(expected), { timeout: 20_000, interval: 20 });
  return { codes, errors, stop, hasHeard, ended };
}

test("a balance, a purchase and the list of rewards are those of the ledger", async () => {
  await api.deliver({ userId: "11", code: "first" });
  expect(await companion.balance("11")).toBe(10);
  const order = { userId: "11", amount: 4, idempotencyKey: "seeds-1", note: "seeds" };
  const spent = await companion.spend(order);
  expect(spent).toMatchObject({ outcome: "spent", balance: 6 });
  expect(await companion.spend(order)).toEqual(spent);
  expect(await companion.spend({ ...order, idempotencyKey: "seeds-2", amount: 7 })).toEqual({
    outcome: "insufficient",
    balance: 6,
  });
  const { entries } = await companion.listRewards({ userId: "11" });
  expect(entries.map(({ amount, code }) => [amount, code])).toEqual([
    [-4, null],
    [10, "first"],
  ]);
  // No ad service runs behind this API.
  expect(await companion.createCode({ userId: "11" })).toMatchObject({ outcome: "unavailable" });
});

test("following misses and repeats no entry across restarts of the bot and of the API", {
  tags: "long",
  timeout: 60_000,
}, async () => {
  await api.deliver({ userId: "12", code: "before" });
  const first = follow("restarts");
  await vi.waitFor(() => expect(first.codes.at(-1)).toBe("before"), { timeout: 20_000 });
  await api.deliver({ userId: "12", code: "live" });
  await vi.waitFor(() => expect(first.codes.at(-1)).toBe("live"), { timeout: 20_000 });
  await first.stop();

  await api.deliver({ userId: "12", code: "bot-was-down" });
  const second = follow("restarts");
  await second.hasHeard("bot-was-down");
  await api.kill();
  await api.start();
  await api.deliver({ userId: "12", code: "api-was-down" });
  await second.hasHeard("bot-was-down", "api-was-down");
  expect(second.errors.length).toBeGreaterThan(0);
  await second.stop();
});

test("an entry whose handler failed is handled again before later ones", async () => {
  const place = follow("failures");
  await api.deliver({ userId: "13", code: "earlier" });
  await vi.waitFor(() => expect(place.codes.at(-1)).toBe("earlier"), { timeout: 20_000 });
  await place.stop();
  let failures = 2;
  const second = follow("failures", ({ code }) => {
    if (code === "stubborn" && failures-- > 0) throw new Error("the messenger is down");
  });
  await api.deliver({ userId: "13", code: "stubborn" });
  await api.deliver({ userId: "13", code: "behind" });
  await second.hasHeard("stubborn", "behind");
  expect(second.errors).toEqual([new Error("the messenger is down"), new Error("the messenger is down")]);
  await second.stop();
}, 30_000);

test("a wrong key is an error at once, and following ends with it", async () => {
  companion = createCompanion({ url: api.url, apiKey: "a-wrong-key" });
  await expect(companion.balance("11")).rejects.toMatchObject({ code: "UNAUTHORIZED", status: 401 });
  await expect(follow("refused").ended).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});

test("the package's types are those of the API's router", () => {
  type Outputs = inferRouterOutputs<AppRouter>;
  expectTypeOf<CreateCodeOutcome>().toEqualTypeOf<Outputs["codes"]["create"]>();
  expectTypeOf<RewardPage>().toEqualTypeOf<Outputs["rewards"]["list"]>();
  expectTypeOf<SpendOutcome>().toEqualTypeOf<Outputs["rewards"]["spend"]>();
});
