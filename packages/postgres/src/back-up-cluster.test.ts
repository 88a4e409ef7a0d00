import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { copyCluster } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { backUpCluster } from "./back-up-cluster.ts";
import { serverOf } from "./cluster-process.ts";
import { decodeCursor, encodeCursor, epochOf, placeOfCursor } from "./commit-cursor.ts";
import { entriesBelow } from "./copy-files.ts";
import { type Database, openDatabase, statement } from "./open-database.ts";
import { restoreCluster } from "./restore-cluster.ts";

const migrations = { "0001": "create table things (id int primary key, xid xid8 not null default commit_xid())" };
const schemas = ["one", "two"] as const;
const insert = statement("backup-insert", "insert into things (id) values ($1)");
const page = statement<{ epoch: string; xid: string; id: number }>(
  "backup-page",
  `select ${epochOf("things.xid")} as epoch, xid, id from things
   where (xid, id) > ($1::xid8, $2::int) and xid < settled_xid() order by xid, id`,
);

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "backup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function folderWithStores(): Promise<string> {
  const folder = temporaryFolder();
  await copyCluster(folder, ...schemas.map((schema) => ({ schema, migrations })));
  return folder;
}

async function open(dataDirectory: string, schema: string): Promise<Database> {
  const database = await openDatabase({ dataDirectory, schema, migrations, isExisting: true });
  onTestFinished(() => database.close().catch(() => {}));
  return database;
}

/** Four writers that insert ids; `acknowledged` are those whose insert was answered before a moment. */
function write(database: Database, from: number) {
  const answers: { id: number; at: number }[] = [];
  let id = from;
  let isStopping = false;
  const writer = async () => {
    while (!isStopping) {
      const mine = ++id;
      await database.run(insert, [mine]);
      answers.push({ id: mine, at: Date.now() });
      // In memory they would write more log in a second than a disk takes.
      await wait(2);
    }
  };
  const writers = [1, 2, 3, 4].map(writer);
  return {
    count: () => answers.length,
    acknowledged: (before: Date) => answers.filter(({ at }) => at < before.getTime()).map(({ id }) => id),
    async stop() {
      isStopping = true;
      await Promise.all(writers);
    },
  };
}

/** The ids after a cursor, and the next cursor. */
async function follow(database: Database, after: string | undefined) {
  const cursor = after === undefined ? { epoch: "", xid: "0", id: "" } : decodeCursor(after);
  if (cursor === undefined) throw new Error("no cursor");
  const place = await placeOfCursor(database, cursor, { lowestId: "0" });
  if (place.outcome !== "place") throw new Error(place.outcome);
  const rows = await database.run(page, [place.xid, place.id]);
  const last = rows.at(-1);
  return {
    ids: rows.map(({ id }) => id),
    next: last === undefined ? after : encodeCursor({ ...last, id: String(last.id) }),
  };
}

const backUpTo = (dataDirectory: string, target: string, copyOthers = async () => {}) =>
  backUpCluster({
    dataDirectory,
    buffersMegabytes: 16,
    target,
    copyOthers,
    requireSpace: async () => {},
    onProgress: () => {},
  });

/** Moves the copy into a new data folder, by the same steps as a copied one. */
async function restoreFrom(
  target: string,
  expected: readonly string[] = schemas,
  dataDirectory = temporaryFolder(),
): Promise<string> {
  await restoreCluster({
    dataDirectory,
    otherFolders: [],
    expected,
    onProgress: () => {},
    async fill(cluster) {
      rmSync(cluster, { recursive: true });
      renameSync(join(target, "postgres"), cluster);
    },
  });
  return dataDirectory;
}

test("a backup made under load holds all that was acknowledged before its end, and feeds go on at their cursors", {
  tags: "long",
}, async () => {
  const [dataDirectory, target] = [await folderWithStores(), temporaryFolder()];
  const databases = { one: await open(dataDirectory, "one"), two: await open(dataDirectory, "two") };
  const writers = { one: write(databases.one, 0), two: write(databases.two, 0) };
  const writesMore = (writer: ReturnType<typeof write>, count: number) => {
    const before = writer.count();
    return expect.poll(writer.count, { timeout: 60_000, interval: 10 }).toBeGreaterThan(before + count);
  };
  await Promise.all([writesMore(writers.one, 50), writesMore(writers.two, 50)]);
  let during: string | undefined;
  const { completeUntil, schemas: checked } = await backUpTo(dataDirectory, target, async () => {
    // Called twice: before the copy ends, and after it.
    if (during !== undefined) return;
    during = (await follow(databases.one, undefined)).next;
    await writesMore(writers.one, 10);
  });
  await writesMore(writers.one, 10);
  await Promise.all(schemas.map((schema) => writers[schema].stop()));
  const all = await follow(databases.one, undefined);
  const afterCopy = all.next;
  await Promise.all(schemas.map((schema) => databases[schema].close()));
  expect(checked.map(({ schema }) => schema)).toEqual(["one", "two"]);

  const restoredFolder = await restoreFrom(target);
  const restored = { one: await open(restoredFolder, "one"), two: await open(restoredFolder, "two") };
  for (const schema of schemas) {
    const { ids } = await follow(restored[schema], undefined);
    const acknowledged = writers[schema].acknowledged(completeUntil);
    expect(acknowledged.length).toBeGreaterThan(50);
    expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
  }
  const held = (await follow(restored.one, undefined)).ids;
  expect(all.ids.length).toBeGreaterThan(held.length);
  await restored.one.run(insert, [1_000_000]);
  const rest = await follow(restored.one, during);
  expect(rest.ids).toEqual([...held, 1_000_000].slice(-rest.ids.length));
  expect(rest.ids.length).toBeGreaterThan(1);
  // This reader has seen rows that are not in the backup.
  expect((await follow(restored.one, afterCopy)).ids).toEqual([1_000_000]);
});

describe("of a store that no server uses", () => {
  let source = "";
  let backup = "";
  let pageOfThings = "";
  beforeAll(async () => {
    [source, backup] = [mkdtempSync(join(tmpdir(), "backup-")), mkdtempSync(join(tmpdir(), "backup-"))];
    await copyCluster(source, ...schemas.map((schema) => ({ schema, migrations })));
    const database = await openDatabase({ dataDirectory: source, schema: "one", migrations });
    await database.run(insert, [1]);
    const text = "select pg_relation_filepath('things') as path";
    [{ path: pageOfThings }] = (await database.run<{ path: string }>({ name: "", text }, [])) as [{ path: string }];
    await database.close();
    await backUpTo(source, backup);
  });
  afterAll(() => {
    for (const folder of [source, backup]) rmSync(folder, { recursive: true, force: true });
  });

  function copyOfBackup(): string {
    const folder = temporaryFolder();
    execFileSync("cp", ["-a", join(backup, "postgres"), folder]);
    return folder;
  }

  test("a backup leaves no process and no other file, and only its owner can read it", async () => {
    for (const folder of [source, backup]) expect(serverOf(join(folder, "postgres"))).toBeUndefined();
    expect(readdirSync(backup)).toEqual(["postgres"]);
    const readable = [];
    for await (const { path } of entriesBelow(backup))
      if ((statSync(join(backup, path)).mode & 0o077) !== 0) readable.push(path);
    expect(readable).toEqual([]);
  });

  test("a backup whose session is ended, as when the write-ahead log becomes too long, says so, and servers go on", {
    tags: "long",
  }, async () => {
    const database = await openDatabase({ dataDirectory: source, schema: "one", migrations });
    const text =
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'intermission backup'";
    const failed = backUpTo(source, temporaryFolder(), async () => {
      await database.run({ name: "", text }, []);
      await wait(50);
    });
    await expect(failed).rejects.toThrow(/more was written during the backup than the write-ahead log keeps/);
    const slots = await database.run({ name: "", text: "select * from pg_replication_slots" }, []);
    await database.close();
    expect(slots).toEqual([]);
  });

  test("a copy that has a damaged page is refused, and servers refuse its folder", async () => {
    const damaged = copyOfBackup();
    const page = openSync(join(damaged, "postgres", pageOfThings), "r+");
    writeSync(page, "damage", 8000);
    closeSync(page);
    const dataDirectory = temporaryFolder();
    await expect(restoreFrom(damaged, schemas, dataDirectory)).rejects.toThrow(
      /does not open: invalid page in block 0/,
    );
    const starting = openDatabase({ dataDirectory, schema: "one", migrations });
    await expect(starting).rejects.toThrow(/restore of a backup into .* did not end: repeat it/);
    expect(existsSync(join(dataDirectory, "postgres"))).toBe(false);
    await restoreFrom(copyOfBackup(), schemas, dataDirectory);
    const restored = await open(dataDirectory, "one");
    expect((await follow(restored, undefined)).ids).toEqual([1]);
    await restored.close();
    await expect(restoreFrom(backup, schemas, dataDirectory)).rejects.toThrow(/has data .*only where nothing is/);
  });

  test("a copy that lacks the schema of a server is refused", { tags: "long" }, async () => {
    await expect(restoreFrom(copyOfBackup(), [...schemas, "three"])).rejects.toThrow(
      /does not open: the schema three is missing/,
    );
  });
});
