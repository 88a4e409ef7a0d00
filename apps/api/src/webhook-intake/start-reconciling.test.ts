import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test, vi } from "vitest";
import { testConfig, testToken } from "../../test/fixtures/api-fixture.ts";
import { startFeed } from "../../test/fixtures/feed-fixture.ts";
import { adServiceClient } from "../ad-service-client.ts";
import { getBalance } from "../ledger/rewards.ts";
import { migrations } from "../migrations.ts";
import { nextRhythm, startReconciling } from "./start-reconciling.ts";

test("at its start it records missing events, logs each and their number, and a stop ends it immediately", async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  const feed = await startFeed();
  const adService = adServiceClient({ url: feed.url, token: testToken });
  const info = vi.fn();
  const logger = { debug: info, info, isLevelEnabled: () => true, warn: vi.fn(), error: vi.fn() };
  const onRecorded = vi.fn();
  const run = () => {
    const { botId, payout } = testConfig;
    const bots = () => [{ id: botId, payout, adService }];
    return startReconciling({ database: store.database, bots, settleAfterSeconds: 0, logger, onRecorded });
  };

  const first = run();
  await vi.waitFor(() => expect(feed.requested).toHaveLength(1));
  await first.stop();
  for (const id of ["evt_1", "evt_2"]) feed.earn(id);
  const second = run();
  await vi.waitFor(() => expect(onRecorded).toHaveBeenCalledTimes(1));
  await second.stop();
  const entry = { botId: testConfig.botId, event: "rewarded", source: "reconciliation" };
  expect(logger.info.mock.calls).toEqual([
    ...["evt_1", "evt_2"].map((eventId) => [
      { ...entry, eventId, userId: expect.any(String) },
      expect.stringMatching(/^an event is (paid|recorded and pays nothing)$/),
    ]),
    [{ botId: testConfig.botId, recorded: 2 }, "recorded events that no webhook delivered"],
  ]);

  await store.dispose();
  const third = run();
  await vi.waitFor(() => expect(logger.error).toHaveBeenCalled());
  await third.stop();
  await adService.close();
  await feed.stop();
});

test("bots are reconciled side by side: one whose list never answers delays no other, and a new one joins by itself", async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  const feed = await startFeed();
  const { payout } = testConfig;
  const ids = ["8000000001", "8000000002"];
  for (const id of ids)
    feed.earn(`evt_of_${id}`, { bot_id: id, occurred_at: new Date(Date.now() + 60_000).toISOString() });
  const stopping = new AbortController();
  const silent = {
    listEvents: () =>
      new Promise<{ outcome: "unavailable"; detail: string }>((resolve) => {
        stopping.signal.addEventListener("abort", () => resolve({ outcome: "unavailable", detail: "silent" }));
      }),
  };
  const adService = adServiceClient({ url: feed.url, token: testToken });
  const bots = [
    { id: "8000000009", payout, adService: silent },
    ...ids.slice(0, 1).map((id) => ({ id, payout, adService })),
  ];
  const logger = { debug: vi.fn(), info: vi.fn(), isLevelEnabled: () => true, warn: vi.fn(), error: vi.fn() };
  const loop = startReconciling({
    database: store.database,
    bots: () => bots,
    settleAfterSeconds: -120,
    logger,
    onRecorded: () => {},
  });
  const balanceOf = (id: string) => getBalance(store.database, id, "42");
  await vi.waitFor(async () => expect(await balanceOf("8000000001")).toBe(payout.rewarded));
  expect(await balanceOf("8000000002")).toBe(0);
  bots.push({ id: "8000000002", payout: { ...payout, rewarded: 77 }, adService });
  await vi.waitFor(async () => expect(await balanceOf("8000000002")).toBe(77));
  expect(await balanceOf("8000000001")).toBe(payout.rewarded);
  stopping.abort();
  await loop.stop();
  await adService.close();
  await feed.stop();
  await store.dispose();
});

test("rounds follow each second while the list is new or has what no webhook delivered, else each minute", () => {
  const pauses = (outcomes: [Parameters<typeof nextRhythm>[1]["outcome"], recorded?: number][]) => {
    let rhythm: ReturnType<typeof nextRhythm> | undefined;
    let now = 0;
    return outcomes.map(([outcome, recorded = 0]) => {
      rhythm = nextRhythm(rhythm, { outcome, recorded }, now);
      const seconds = (rhythm.dueAt - now) / 1000;
      now = rhythm.dueAt;
      return seconds;
    });
  };
  const done = (times: number): ["done"][] => Array.from({ length: times }, () => ["done"]);
  expect(pauses(done(12))).toEqual([...Array(10).fill(1), 60, 60]);
  expect(pauses([...done(11), ["done", 3], ...done(10)])).toEqual([...Array(10).fill(1), 60, ...Array(10).fill(1), 60]);
  const away = Array.from({ length: 8 }, (): ["unavailable"] => ["unavailable"]);
  expect(pauses([...away, ["done"]])).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 1]);
  expect(pauses([["more"], ["not-offered"]])).toEqual([1, 6 * 3600]);
});
