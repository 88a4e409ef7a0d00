// @module-tag long
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "@intermission/postgres/open-database";
import {
  askServer,
  dumpDatabase,
  startDumpableCluster,
  useUpTransactionIds,
} from "@intermission/testing/copy-database";
import { expect, onTestFinished, test, vi } from "vitest";
import { startTestApi, type TestApi } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

async function openApi(databaseUrl: string): Promise<TestApi> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "restored-"));
  const database: Database = await openDatabase({ databaseUrl, dataDirectory, schema: "api", migrations });
  const api = await startTestApi(database);
  onTestFinished(async () => {
    await api.stop();
    await database.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  });
  return api;
}

const earn = async (api: TestApi, eventId: string) => {
  const { status } = await api.deliver({ event: "rewarded", user_tg_id: "9", event_id: eventId });
  expect(status).toBe(200);
};

/** Collects the entries of a watch in order, until it is stopped. */
function follow(api: TestApi, cursor: string) {
  const seen: (string | null)[] = [];
  const errors: unknown[] = [];
  const { stop } = api.watch(
    cursor,
    ({ eventId }) => seen.push(eventId),
    (error) => errors.push(error),
  );
  onTestFinished(stop);
  return { seen, errors };
}
const soon = { timeout: 30_000 };

test("a watch of rewards continues when the ledger is restored into another cluster, each entry once", async () => {
  const first = await startDumpableCluster();
  onTestFinished(first.stop);
  await askServer(first.url, useUpTransactionIds);
  const before = await openApi(first.url);
  await earn(before, "evt_seen");
  const { cursor } = await before.client().rewards.cursor.query();
  await earn(before, "evt_unread");
  const dump = dumpDatabase(first.url);
  onTestFinished(dump.remove);
  await earn(before, "evt_lost");
  const lost = follow(before, cursor);
  await vi.waitFor(() => expect(lost.seen).toEqual(expect.arrayContaining(["evt_unread", "evt_lost"])), soon);
  const beyond = (await before.client().rewards.cursor.query()).cursor;

  const other = await startDumpableCluster();
  onTestFinished(other.stop);
  const after = await openApi((await dump.restoreTo(other.url)).url);
  const [held, beyondEnd] = [follow(after, cursor), follow(after, beyond)];
  await earn(after, "evt_new");
  await vi.waitFor(() => expect(held.seen.slice(-2)).toEqual(["evt_unread", "evt_new"]), soon);
  await vi.waitFor(() => expect(beyondEnd.seen).toEqual(["evt_new"]), soon);
  const { entries } = await after.client().rewards.list.query({});
  expect(entries.map(({ eventId }) => eventId)).toEqual(["evt_new", "evt_unread", "evt_seen"]);
  expect((await after.client().rewards.balance.query({ userId: "9" })).balance).toBe(30);

  // The same backup again: a cursor of the first restore is invalid in this one.
  const inOther = (await after.client().rewards.cursor.query()).cursor;
  const again = await openApi((await dump.restoreTo(other.url)).url);
  const refused = follow(again, inOther);
  await vi.waitFor(() => expect(JSON.stringify(refused.errors)).toContain("PRECONDITION_FAILED"), soon);
  expect(refused.seen).toEqual([]);
}, 180_000);
