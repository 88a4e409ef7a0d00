import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyMigratedStore } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase, statement } from "./open-database.ts";
import { StoreFault } from "./store-faults.ts";

const migrations = { "0001": "create table bots (id int primary key)" };
const insert = statement("folder-insert", "insert into bots select generate_series(1, 20)");
const count = statement<{ bots: number }>("folder-count", "select count(*)::int as bots from bots");
const removed = (path: string) => (store: string) => rmSync(join(store, path), { recursive: true });

let root = "";
let folders = 0;
const newFolder = () => join(root, `data-${++folders}`);
const open = (dataDirectory: string, isExisting = false): Promise<Database> =>
  openDatabase({ dataDirectory, schema: "shop", migrations, isExisting });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "folder-"));
  await copyMigratedStore(join(root, "whole/postgres"), { schema: "shop", migrations });
  const database = await open(join(root, "whole"));
  await database.run(insert, []);
  await database.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function copyOfStore(): { folder: string; store: string } {
  const folder = newFolder();
  cpSync(join(root, "whole"), folder, { recursive: true });
  return { folder, store: join(folder, "postgres") };
}

const restoreIt = /not a whole store.*missing.*restore.*from a backup.*move it away/;
test.each<[string, (store: string) => void, RegExp]>([
  ["without PG_VERSION", removed("PG_VERSION"), restoreIt],
  ["without global", removed("global"), restoreIt],
  ["without pg_control", removed("global/pg_control"), restoreIt],
  ["without its log", removed("pg_wal"), restoreIt],
  ["without an empty folder that a backup left out", removed("pg_notify"), restoreIt],
  ["with a stray file alone", (store) => emptied(store, () => writeFileSync(join(store, "notes.txt"), "x")), restoreIt],
  [
    "with a cut pg_control",
    (store) => truncateSync(join(store, "global/pg_control"), 0),
    /PANIC: .*pg_control.*backup/,
  ],
  ["without the segments of its log", (store) => emptied(join(store, "pg_wal")), /PANIC: .*checkpoint record.*backup/],
  ["without its tables", removed("base/5"), /FATAL: .*base\/5.*missing.*backup/],
  ["of another version", (store) => writeFileSync(join(store, "PG_VERSION"), "17\n"), /PostgreSQL version 17/],
])("a store %s is refused with the next step and not changed", async (_name, damage, message) => {
  const { folder, store } = copyOfStore();
  damage(store);
  const before = tablesIn(store);
  const error = await open(folder).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(StoreFault);
  expect(error).toMatchObject({ message: expect.stringMatching(message) });
  expect(tablesIn(store)).toEqual(before);
});

/** The files of tables and indexes; a newly made store has other ones. */
function tablesIn(store: string): string[] {
  const files = readdirSync(store, { recursive: true, encoding: "utf8" });
  return files.filter((file) => /^base\/\d+\/\d+$/.test(file)).sort();
}

function emptied(folder: string, then: () => void = () => {}): void {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  then();
}

test("a store whose creation was interrupted is made again, and a complete one is kept", { tags: "long" }, async () => {
  const folder = newFolder();
  cpSync(join(root, "whole/postgres"), join(folder, "postgres.new"), { recursive: true });
  rmSync(join(folder, "postgres.new/PG_VERSION"));
  mkdirSync(join(folder, "postgres"));
  mkdirSync(join(folder, "media"));
  writeFileSync(join(folder, "owner.lock"), "");
  const fresh = await open(folder);
  expect(await fresh.run(count, [])).toEqual([{ bots: 0 }]);
  await fresh.close();
  expect(existsSync(join(folder, "postgres.new"))).toBe(false);
  const { folder: kept } = copyOfStore();
  const whole = await open(kept);
  expect(await whole.run(count, [])).toEqual([{ bots: 20 }]);
  await whole.close();
});

test("no store is made in a folder with other data, or when only an existing one may be opened", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "media"), { recursive: true });
  writeFileSync(join(folder, "media/film.mp4"), "x");
  await expect(open(folder)).rejects.toThrow(/holds media but no store.*DATABASE_URL/);
  const nowhere = newFolder();
  await expect(open(nowhere, true)).rejects.toThrow(/holds no store: start the server/);
  expect([existsSync(join(folder, "postgres")), existsSync(nowhere)]).toEqual([false, false]);
});

test("with isExisting, a store of an older version is refused with the next step and not changed", {
  tags: "long",
}, async () => {
  const { folder } = copyOfStore();
  const newer = { ...migrations, "0002": "create table more (id int)" };
  await expect(
    openDatabase({ dataDirectory: folder, schema: "shop", migrations: newer, isExisting: true }),
  ).rejects.toThrow(/older version \(0002 did not run yet\): start the server/);
  await expect(openDatabase({ dataDirectory: folder, schema: "other", migrations, isExisting: true })).rejects.toThrow(
    /no schema "other" yet/,
  );
  await (await open(folder, true)).close();
});
