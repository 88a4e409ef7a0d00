import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { migrations } from "../migrations.ts";
import { rememberPublisherShare, startComparingShare } from "./publisher-share.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

test("a node that starts with another share says so, a node without the setting keeps it, and the others notice", async () => {
  const { database } = store;
  const lines: string[] = [];
  const log = { warn: (_facts: unknown, message?: string) => void lines.push(message ?? "") };
  const start = (configured: number | undefined, hour: number) =>
    rememberPublisherShare(database, { configured, now: new Date(Date.UTC(2026, 2, 1, hour)) }, log);
  expect(await start(60, 1)).toEqual({ outcome: "stored", percent: 60 });
  const first = startComparingShare({ database, configured: 60, log, everyMs: 20 });
  onTestFinished(() => first.stop());
  expect(await start(60, 2)).toEqual({ outcome: "kept", percent: 60 });
  expect(await start(undefined, 3)).toEqual({ outcome: "kept", percent: 60 });
  expect(lines).toEqual([]);
  expect(first.warning()).toBeUndefined();

  expect(await start(80, 4)).toEqual({ outcome: "changed", percent: 80, from: 60 });
  expect(lines[0]).toMatch(/from now on is 80 %, by PUBLISHER_SHARE_PERCENT of this node; it was 60 %/);
  await expect.poll(first.warning).toMatch(/of this node is 60, and another node has set the share to 80 %/);
  await first.stop();
  expect(lines).toHaveLength(2);
});
