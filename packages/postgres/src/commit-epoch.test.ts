// @module-tag long
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  askServer,
  dumpDatabase,
  startDumpableCluster,
  useUpTransactionIds,
} from "@intermission/testing/copy-database";
import { copyCluster, createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { type CommitCursor, decodeCursor, encodeCursor, epochOf, feedStart, placeOfCursor } from "./commit-cursor.ts";
import { type Database, openDatabase, statement } from "./open-database.ts";

const migrations = { "0001": "create table things (id int primary key, xid xid8 not null default commit_xid())" };
const insert = statement("epoch-insert", "insert into things (id) select unnest($1::int[])");
const page = statement<{ epoch: string; xid: string; id: number }>(
  "epoch-page",
  `select ${epochOf("things.xid")} as epoch, xid, id from things
   where (xid, id) > ($1::xid8, $2::int) and xid < settled_xid() order by xid, id`,
);
const epochs = statement<{ epoch: number; xid_offset: number }>(
  "epoch-epochs",
  "select epoch, xid_offset from commit_epochs order by epoch",
);

const opened = new Set<Database>();
async function close(database: Database): Promise<void> {
  if (opened.delete(database)) await database.close();
}

async function open(where: { databaseUrl?: string; dataDirectory?: string }): Promise<Database> {
  const dataDirectory = where.dataDirectory ?? temporaryFolder();
  const { databaseUrl } = where;
  const database = await openDatabase({ databaseUrl, dataDirectory, schema: "shop", migrations });
  opened.add(database);
  onTestFinished(() => close(database));
  return database;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "epoch-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function newDatabase(): Promise<string> {
  const { url, drop } = await createServerDatabase();
  onTestFinished(drop);
  return url;
}

/** The ids after a cursor and the next cursor; waits until all transactions that began before these rows have ended. */
async function follow(database: Database, after: string | undefined, count: number) {
  const cursor: CommitCursor | undefined = after === undefined ? feedStart : decodeCursor(after);
  if (cursor === undefined) throw new Error("no cursor");
  const place = await placeOfCursor(database, cursor, { lowestId: "0" });
  if (place.outcome !== "place") return place.outcome;
  const read = () => database.run(page, [place.xid, place.id]);
  await expect.poll(async () => (await read()).length, { timeout: 30_000, interval: 20 }).toBeGreaterThanOrEqual(count);
  const rows = await read();
  const last = rows.at(-1);
  return {
    ids: rows.map(({ id }) => id),
    next: last === undefined ? (after ?? "") : encodeCursor({ ...last, id: String(last.id) }),
  };
}

async function read(database: Database, after: string | undefined, count: number) {
  const followed = await follow(database, after, count);
  if (typeof followed === "string") throw new Error(followed);
  return followed;
}

test("after a restore into another cluster a feed continues at the reader's position, with each row once", {
  timeout: 180_000,
}, async () => {
  const first = await startDumpableCluster();
  onTestFinished(first.stop);
  const { url } = first;
  await askServer(url, useUpTransactionIds);
  const before = await open({ databaseUrl: url });
  await before.run(insert, [[1, 2]]);
  const { next } = await read(before, undefined, 2);
  await before.run(insert, [[3]]);
  const dump = dumpDatabase(url);
  onTestFinished(dump.remove);
  // The reader has seen a row that is not in the backup.
  await before.run(insert, [[4]]);
  const beyond = (await read(before, next, 2)).next;

  const other = await startDumpableCluster();
  onTestFinished(other.stop);
  const restored = await dump.restoreTo(other.url);
  const nodes = await Promise.all([1, 2, 3].map(() => open({ databaseUrl: restored.url })));
  const [after] = nodes as [Database];
  expect((await after.run(epochs, [])).map(({ xid_offset }) => xid_offset)).toEqual([0, 2 ** 48]);
  for (const [index, node] of nodes.entries()) await node.run(insert, [[10 + index]]);
  expect((await read(after, next, 4)).ids).toEqual([3, 10, 11, 12]);
  expect((await read(after, beyond, 3)).ids).toEqual([10, 11, 12]);
  expect((await read(after, undefined, 6)).ids).toEqual([1, 2, 3, 10, 11, 12]);
  const inOther = (await read(after, next, 4)).next;

  // The same backup again: rows of the first restore are gone, and their cursors are reported as unknown.
  const again = await open({ databaseUrl: (await dump.restoreTo(other.url)).url });
  await again.run(insert, [[20]]);
  expect(await follow(again, inOther, 0)).toBe("unknown-epoch");
  expect((await read(again, beyond, 1)).ids).toEqual([20]);

  // Restore back into the first cluster.
  const back = dumpDatabase(restored.url);
  onTestFinished(back.remove);
  const home = await back.restoreTo(url);
  onTestFinished(home.drop);
  const athome = await open({ databaseUrl: home.url });
  await athome.run(insert, [[30]]);
  expect((await read(athome, inOther, 1)).ids).toEqual([30]);
});

test("an embedded store restored from older files skips no row, and reports cursors of the lost time as unknown", async () => {
  const folder = temporaryFolder();
  await copyCluster(folder);
  const first = await open({ dataDirectory: folder });
  await first.run(insert, [[1]]);
  const { next } = await read(first, undefined, 1);
  await close(first);
  const backup = temporaryFolder();
  execFileSync("cp", ["-a", join(folder, "postgres"), backup]);

  const second = await open({ dataDirectory: folder });
  await second.run(insert, [[2]]);
  const lost = (await read(second, next, 1)).next;
  expect((await read(second, undefined, 2)).ids).toEqual([1, 2]);
  await close(second);

  const restored = await open({ dataDirectory: backup });
  await restored.run(insert, [[3]]);
  expect((await read(restored, next, 1)).ids).toEqual([3]);
  expect(await follow(restored, lost, 0)).toBe("unknown-epoch");
  expect((await restored.run(epochs, [])).map(({ xid_offset }) => xid_offset)).toEqual([0, 0]);
}, 240_000);

test("a role with no other rights than owning the schema can use the feed, even without access to the cluster's identity", async () => {
  const url = new URL(await newDatabase());
  const role = `owner_${process.pid}`;
  await askServer(url.href, `create role ${role} login; create schema shop authorization ${role}`);
  try {
    url.username = role;
    const plain = await open({ databaseUrl: url.href });
    await plain.run(insert, [[1]]);
    const { next } = await read(plain, undefined, 1);
    await close(plain);
    const clusterOf = () => askServer(url.href, "select cluster from shop.commit_epochs order by epoch");
    expect(await clusterOf()).toEqual([{ cluster: expect.stringMatching(/^\d{10,}\/[0-9A-F]{8}\/\d+$/) }]);

    const admin = new URL(url);
    admin.username = new URL(process.env.TEST_DATABASE_URL ?? "").username;
    await askServer(admin.href, "revoke execute on function pg_control_system() from public");
    const limited = await open({ databaseUrl: url.href });
    await limited.run(insert, [[2]]);
    expect((await read(limited, next, 1)).ids).toEqual([2]);
    await close(limited);
    expect((await clusterOf()).at(-1)).toEqual({ cluster: expect.stringMatching(/^\d+$/) });
  } finally {
    url.username = new URL(process.env.TEST_DATABASE_URL ?? "").username;
    await askServer(url.href, `drop schema shop cascade; drop role ${role}`);
  }
}, 60_000);
