import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test, vi } from "vitest";
import { testConfig, testToken } from "../../test/fixtures/api-fixture.ts";
import { startFeed } from "../../test/fixtures/feed-fixture.ts";
import { adServiceClient } from "../ad-service-client.ts";
import { migrations } from "../migrations.ts";
import { reconcileForever } from "./reconcile-events.ts";

test("at its start it records missing events, logs one line, and a stop ends it immediately", async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  const feed = await startFeed();
  const adService = adServiceClient({ url: feed.url, token: testToken });
  const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const onRecorded = vi.fn();
  const run = () => {
    const stopping = new AbortController();
    const { botId, payout } = testConfig;
    const options = { database: store.database, adService, botId, payout, settleAfterSeconds: 0, logger, onRecorded };
    const ended = reconcileForever({ ...options, stopping: stopping.signal });
    return { ended, stop: () => stopping.abort() };
  };

  const first = run();
  await vi.waitFor(() => expect(feed.asked).toHaveLength(1), 10_000);
  first.stop();
  await first.ended;
  for (const id of ["evt_1", "evt_2"]) feed.earn(id);
  const second = run();
  await vi.waitFor(() => expect(onRecorded).toHaveBeenCalledTimes(1), 10_000);
  second.stop();
  await second.ended;
  expect(logger.info.mock.calls).toEqual([[{ recorded: 2 }, "recorded events that no webhook delivered"]]);

  await store.dispose();
  const third = run();
  await vi.waitFor(() => expect(logger.error).toHaveBeenCalled(), 10_000);
  third.stop();
  await third.ended;
  await adService.close();
  await feed.stop();
});
