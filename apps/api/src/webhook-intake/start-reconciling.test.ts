import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test, vi } from "vitest";
import { testConfig, testToken } from "../../test/fixtures/api-fixture.ts";
import { startFeed } from "../../test/fixtures/feed-fixture.ts";
import { adServiceClient } from "../codes/ad-service-client.ts";
import { migrations } from "../migrations.ts";
import { startReconciling } from "./reconcile-events.ts";

test("at its start it records missing events, logs one line, and a stop ends it immediately", async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  const feed = await startFeed();
  const adService = adServiceClient({ url: feed.url, token: testToken });
  const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const onRecorded = vi.fn();
  const run = () => {
    const { botId, payout } = testConfig;
    const bots = () => [{ id: botId, payout, adService }];
    return startReconciling({ database: store.database, bots, settleAfterSeconds: 0, logger, onRecorded });
  };

  const first = run();
  await vi.waitFor(() => expect(feed.asked).toHaveLength(1), 10_000);
  await first.stop();
  for (const id of ["evt_1", "evt_2"]) feed.earn(id);
  const second = run();
  await vi.waitFor(() => expect(onRecorded).toHaveBeenCalledTimes(1), 10_000);
  await second.stop();
  expect(logger.info.mock.calls).toEqual([
    [{ botId: testConfig.botId, recorded: 2 }, "recorded events that no webhook delivered"],
  ]);

  await store.dispose();
  const third = run();
  await vi.waitFor(() => expect(logger.error).toHaveBeenCalled(), 10_000);
  await third.stop();
  await adService.close();
  await feed.stop();
});
