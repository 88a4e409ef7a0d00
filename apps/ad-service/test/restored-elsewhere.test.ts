import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newEventId } from "@intermission/ad-core/code";
import { type Database, type OpenedDatabase, openDatabase, statement } from "@intermission/postgres/open-database";
import {
  askServer,
  dumpDatabase,
  startDumpableCluster,
  useUpTransactionIds,
} from "@intermission/testing/copy-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { makeUpcomingPartitions } from "../src/retention/keep-partitions.ts";
import { rememberPublisherShare } from "../src/statistics/publisher-share.ts";
import { openAppFixture } from "./fixtures/app-fixture.ts";
import { openDeliveryFixture } from "./fixtures/delivery-fixture.ts";
import {
  expectedSums,
  type Fact,
  insertBotsAndCampaigns,
  insertFacts,
  readSums,
  rollUpUntilNow,
  shares,
} from "./fixtures/facts-fixture.ts";

const fact: Fact = {
  kind: "event",
  botId: "910",
  hour: 5,
  second: 0,
  format: "rewarded",
  campaignId: "cmp_a",
  priceMicros: 2501,
};
const addTestEvent = statement<never>(
  "test.copy-of-event",
  `with made as (
     insert into events (bot_id, event_id, event, user_id, code, occurred_at)
     select $1, $2, 'rewarded', '501', $2, now() returning bot_id, event_id
   ) insert into deliveries (bot_id, event_id, state) select bot_id, event_id, 'held' from made`,
);

async function open(databaseUrl: string): Promise<OpenedDatabase> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "restored-"));
  const database = await openDatabase({
    databaseUrl,
    dataDirectory,
    schema: "ad_service",
    migrations,
  });
  onTestFinished(async () => {
    await database.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  });
  return database;
}

test("every row that is read in commit order is numbered from the epoch's offset", async () => {
  const server = await createServerDatabase();
  onTestFinished(server.drop);
  await open(server.url);
  const columns = await askServer(
    server.url,
    `select attrelid::regclass::text as table, pg_get_expr(adbin, adrelid) as default
     from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
     where relkind in ('r', 'p') and not relispartition and atttypid = 'xid8'::regtype and relnamespace = 'ad_service'::regnamespace
       and relname not in ('commit_epochs', 'stats_progress', 'money_progress', 'billing_logs', 'billing_log_entries') order by 1`,
  );
  expect(columns.length).toBeGreaterThan(5);
  expect(columns.filter((column) => column.default !== "ad_service.commit_xid()")).toEqual([]);
});

/** The answer of `GET /client/v1/events`, once it lists the expected number. */
async function feedOf(database: Database, token: string) {
  const fixture = await openAppFixture(database);
  onTestFinished(() => fixture.close());
  const ask = async (after: string | undefined) => {
    const query = after === undefined ? "" : `?after=${after}`;
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${fixture.address}/client/v1/events${query}`, { headers });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  return {
    ask,
    async read(after: string | undefined, count: number): Promise<{ ids: string[]; next: string }> {
      await expect.poll(async () => (await ask(after)).body.events?.length, { timeout: 30_000 }).toBe(count);
      const { body } = await ask(after);
      return { ids: body.events.map(({ event_id }: { event_id: string }) => event_id), next: body.next };
    },
  };
}

test("after a restore into another cluster, the feed of events and the statistics continue without a gap or a repeat", {
  tags: "long",
  timeout: 180_000,
}, async () => {
  const first = await startDumpableCluster();
  onTestFinished(first.stop);
  await askServer(first.url, useUpTransactionIds);
  const before = await open(first.url);
  await makeUpcomingPartitions(before, new Date());
  await insertBotsAndCampaigns(before);
  await rememberPublisherShare(before, { configured: shares.morning, now: new Date(0) }, { warn: () => {} });
  const { botId, token, enqueue } = await openDeliveryFixture(before, {});
  const feed = await feedOf(before, token);
  const [seen = ""] = await enqueue(1);
  const { next } = await feed.read(undefined, 1);
  const [unread = ""] = await enqueue(1);
  await before.transaction((tx) => insertFacts(tx, [fact]));
  await rollUpUntilNow(before);
  // Not counted yet when the backup is made.
  await before.transaction((tx) => insertFacts(tx, [fact, fact]));
  const dump = dumpDatabase(first.url);
  onTestFinished(dump.remove);
  await enqueue(1);
  const beyond = (await feed.read(next, 2)).next;

  const other = await startDumpableCluster();
  onTestFinished(other.stop);
  const after = await open((await dump.restoreTo(other.url)).url);
  const restored = await feedOf(after, token);
  expect((await restored.read(next, 1)).ids).toEqual([unread]);
  const added = newEventId(Date.now(), randomBytes(10));
  await after.run(addTestEvent, [botId, added]);
  expect((await restored.read(next, 2)).ids).toEqual([unread, added]);
  expect((await restored.read(beyond, 1)).ids).toEqual([added]);
  expect((await restored.read(undefined, 3)).ids).toEqual([seen, unread, added]);
  await after.transaction((tx) => insertFacts(tx, [fact]));
  await rollUpUntilNow(after);
  expect(await readSums(after)).toEqual(expectedSums([fact, fact, fact, fact]));

  // The same backup again: it does not contain what was read of the first restore.
  const inOther = (await restored.read(next, 2)).next;
  const again = await feedOf(await open((await dump.restoreTo(other.url)).url), token);
  expect(await again.ask(inOther)).toMatchObject({ status: 410, body: { error: { code: "CURSOR_LOST" } } });
  expect((await again.read(undefined, 2)).ids).toEqual([seen, unread]);
});
