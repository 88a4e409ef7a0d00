import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createServerDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readMigrations } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";
import type { Migrations } from "./schema-state.ts";

const a = { "0001-a": "create table a (id int)" };
const b = { "0002-b": "create table b (id int)" };
const c = { "0003-c": "create table c (id int)" };

describe("migrations", () => {
  let dataDirectory = "";
  let server: { url: string; drop(): Promise<void> } | undefined;
  const options = () => ({ databaseUrl: server?.url, dataDirectory, schema: "shop" });
  const open = (migrations: Migrations) => openDatabase({ ...options(), migrations });
  const migrateTo = async (migrations: Migrations) => (await open(migrations)).close();
  beforeEach(async () => {
    dataDirectory = mkdtempSync(join(tmpdir(), "migrate-"));
    server = await createServerDatabase();
  });
  afterEach(async () => {
    await server?.drop();
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  test("a fresh store gets all migrations, and a repeated start changes nothing", async () => {
    await migrateTo({ ...a, ...b });
    const before = await ask("select xmin, * from shop.migrations order by name");
    await migrateTo({ ...a, ...b });
    expect(before.rows).toMatchObject([{ name: "0001-a" }, { name: "0002-b" }]);
    expect((await ask("select xmin, * from shop.migrations order by name")).rows).toEqual(before.rows);
  });

  test("an older store gets the migrations that it lacks, and keeps its rows", async () => {
    await migrateTo(a);
    await ask("insert into shop.a values (7)");
    await migrateTo({ ...a, "0002-b": "alter table a add column b int default 8", ...c });
    expect((await ask("select id, b from shop.a")).rows).toEqual([{ id: 7, b: 8 }]);
    expect((await ask("select count(*)::int from shop.c")).rows).toEqual([{ count: 0 }]);
  });

  test("a store of a newer version is refused, with what it has, what this version has, and the next step", async () => {
    await migrateTo({ ...a, ...c });
    await expect(open(a)).rejects.toThrow(
      /^the schema "shop" is of a newer version: it has 0003-c, and this version ends with 0001-a; start the version that made/,
    );
  });

  test("a refusal names the version that opened the store last, which works", async () => {
    const openAs = async (version: string, migrations: Migrations) =>
      (await openDatabase({ databaseUrl: server?.url, dataDirectory, schema: "shop", migrations, version })).close();
    await openAs("1.0.0+aaaa", { ...a, ...c });
    await openAs("1.0.0+bbbb", { ...a, ...c });
    await expect(openAs("0.9.0+cccc", a)).rejects.toThrow(
      /start the version that opened this store last, 1\.0\.0\+bbbb, or/,
    );
    await expect(openAs("1.1.0", { ...c, "0001-a": "create table a (id text)" })).rejects.toThrow(/1\.0\.0\+bbbb/);
    // A store of before versions were stored.
    await ask("alter table shop.migrations drop column opened_by");
    await expect(open(a)).rejects.toThrow(/start the version that made this store/);
    await openAs("1.0.0+dddd", { ...a, ...c });
    await expect(open(a)).rejects.toThrow(/1\.0\.0\+dddd/);
  });

  test("a migration whose statements were edited after it ran is refused; an edited comment is not", async () => {
    await migrateTo({ ...a, ...b });
    await migrateTo({ ...b, "0001-a": "-- The first table.\ncreate table a (id int)" });
    const edited = { ...b, "0001-a": "create table a (id text)" };
    const refusal =
      /^the migration 0001-a of the schema "shop" was changed after it ran: it ran with the checksum [0-9a-f]{12}, .*npm run reset/;
    await expect(open(edited)).rejects.toThrow(refusal);
    const command = openDatabase({ ...options(), migrations: edited, isExisting: true });
    await expect(command).rejects.toThrow(refusal);
  });

  test("a migration with a number below one that ran is refused", async () => {
    await migrateTo({ ...a, ...c });
    await expect(open({ ...a, ...b, ...c })).rejects.toThrow(/0002-b .* comes too late, since 0003-c ran already/);
  });

  test("a failed statement undoes all migrations of this start, so the version before still runs", async () => {
    await migrateTo(a);
    const broken = { ...b, "0003-c": "create table c (id int); insert into c values ('x')" };
    await expect(open({ ...a, ...broken })).rejects.toThrow(
      /^the migration 0003-c .* failed \(invalid input syntax for type integer: "x"\), and nothing was changed: start the version/,
    );
    const { rows } = await ask("select to_regclass('shop.b') as b, to_regclass('shop.c') as c");
    expect(rows).toEqual([{ b: null, c: null }]);
    await migrateTo(a);
    await migrateTo({ ...a, ...b, ...c });
  });

  test("every refusal is one line for the operator, without a stack", async () => {
    await migrateTo({ ...a, ...c });
    for (const migrations of [
      a,
      { ...a, ...b, ...c },
      { ...c, "0001-a": "select 1" },
      { ...a, ...c, "0004-d": "selec" },
    ]) {
      const fault = await open(migrations).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(fault).toMatchObject({ isForOperator: true, message: expect.stringMatching(/^[^\n]+$/) });
    }
  });

  test("the files of a folder are numbered without gaps, and leave the transaction open", () => {
    const folder = (files: Record<string, string>) => {
      const path = mkdtempSync(join(dataDirectory, "migrations-"));
      for (const [name, sql] of Object.entries(files)) writeFileSync(join(path, name), sql);
      return pathToFileURL(`${path}/`);
    };
    expect(readMigrations(folder({ "0001-a.sql": "select 1", "0002-b-c.sql": "select 2" }))).toEqual({
      "0001-a": "select 1",
      "0002-b-c": "select 2",
    });
    const next = "the next migration is called";
    expect(() => readMigrations(folder({ "0001-a.sql": "", "0003-b.sql": "" }))).toThrow(`${next} 0002-`);
    expect(() => readMigrations(folder({ "0001-a.sql": "", "0001-b.sql": "" }))).toThrow(`${next} 0002-`);
    expect(() => readMigrations(folder({ "0001-a.txt": "" }))).toThrow(`${next} 0001-`);
    expect(() => readMigrations(folder({ "0001-a.sql": "begin; select 1; commit" }))).toThrow(
      "0001-a.sql begins or ends",
    );
    const index = "create index concurrently if not exists a_id on a (id)";
    const alone = { "0001-a.sql": "select 1", "0002-b.sql": `-- works-with: 0001-a\n${index};` };
    expect(Object.keys(readMigrations(folder(alone)))).toEqual(["0001-a", "0002-b"]);
    for (const sql of [`${index}; select 1`, index.replace("if not exists ", ""), "reindex table concurrently a"])
      expect(() => readMigrations(folder({ "0001-a.sql": sql })), sql).toThrow(
        "0001-a.sql has more than one statement",
      );
    expect(() => readMigrations(folder({ "0001-a.sql": "-- works-with: 0007-x\nselect 1" }))).toThrow(
      "0001-a.sql works with 0007-x, which is no earlier migration",
    );
  });

  test("of nodes that start at the same time one migrates, and the others wait for it", async () => {
    const slow = { ...a, "0002-slow": "create table s (id int); select pg_sleep(0.5); insert into s values (1)" };
    const nodes = await Promise.all(Array.from({ length: 4 }, () => open(slow)));
    await Promise.all(nodes.map((node) => node.close()));
    const { rows } = await ask("select count(*)::int as rows from shop.s");
    expect(rows).toEqual([{ rows: 1 }]);
  });

  test("a version starts on a newer schema whose migrations say that it works with them, and else is refused", async () => {
    const expand = { "0002-b": "-- works-with: 0001-a\ncreate table b (id int)" };
    const contract = { "0003-c": "-- works-with: 0002-b\nalter table a drop column id" };
    await migrateTo({ ...a, ...expand });
    const warnings: string[] = [];
    const logger = { info: () => {}, warn: (_facts: object, message: string) => void warnings.push(message) };
    await (await openDatabase({ ...options(), migrations: a, logger })).close();
    expect(warnings).toEqual([expect.stringMatching(/newer version, which this one works with/)]);
    await (await openDatabase({ ...options(), migrations: a, isExisting: true })).close();
    await migrateTo({ ...a, ...expand, ...contract });
    await expect(open(a)).rejects.toThrow(/is of a newer version: it has 0002-b, 0003-c/);
    await migrateTo({ ...a, ...expand });
  });

  test("an index is made concurrently: writers go on meanwhile, several nodes start, and a half-made one is made again", async () => {
    await migrateTo(a);
    const index = { "0002-b": "create index concurrently if not exists a_id on a (id)" };
    const writer = new pg.Client({ connectionString: server?.url });
    await writer.connect();
    await writer.query("begin");
    await writer.query("insert into shop.a values (1)");
    const nodes = Promise.all([1, 2, 3].map(() => open({ ...a, ...index, ...c })));
    // The index waits for this transaction, and holds up neither it nor others.
    const isMaking = async () =>
      (await ask("select from pg_index join pg_class on oid = indexrelid where relname = 'a_id'")).rowCount;
    await expect.poll(isMaking, { interval: 20, timeout: 20_000 }).toBe(1);
    await ask("set lock_timeout to 500; insert into shop.a values (2)");
    await writer.query("insert into shop.a values (3)");
    await writer.query("commit");
    await writer.end();
    for (const node of await nodes) await node.close();
    expect((await ask("select name from shop.migrations order by name")).rows.map(({ name }) => name)).toEqual([
      "0001-a",
      "0002-b",
      "0003-c",
    ]);
    // As a kill leaves it: the index is there, invalid, and the migration did not run.
    await ask(
      "delete from shop.migrations where name > '0002'; drop table shop.c; update pg_index set indisvalid = false where indexrelid = 'shop.a_id'::regclass",
    );
    await migrateTo({ ...a, ...index });
    expect((await ask("select indisvalid from pg_index where indexrelid = 'shop.a_id'::regclass")).rows).toEqual([
      { indisvalid: true },
    ]);
  });

  test("a migration that needs a table in use waits briefly and again: others read and write the table meanwhile", {
    tags: "long",
  }, async () => {
    await migrateTo(a);
    const report = new pg.Client({ connectionString: server?.url });
    await report.connect();
    await report.query("begin; select from shop.a");
    let isOver = false;
    const update = migrateTo({ ...a, "0002-b": "alter table a add column note text" }).then(() => {
      isOver = true;
    });
    const waits: number[] = [];
    for (let visit = 0; visit < 6; visit++) {
      const from = performance.now();
      await ask("insert into shop.a values (1)");
      waits.push(performance.now() - from);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(isOver).toBe(false);
    // A wait for the lock would last as long as the report, which ends only now.
    expect(Math.max(...waits)).toBeLessThan(15_000);
    await report.query("commit");
    await report.end();
    await update;
    expect((await ask("select count(*)::int as rows, count(note)::int as notes from shop.a")).rows).toEqual([
      { rows: 6, notes: 0 },
    ]);
  });

  test("a role that may not create schemas can use an existing one", async () => {
    const role = `guest_${process.pid}`;
    await ask(`create role ${role} login; create schema shop authorization ${role}`);
    const url = new URL(server?.url ?? "");
    url.username = role;
    try {
      await (await openDatabase({ databaseUrl: url.href, dataDirectory, schema: "shop", migrations: a })).close();
    } finally {
      await ask(`drop schema shop cascade; drop role ${role}`);
    }
  });

  async function ask(sql: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: server?.url });
    await client.connect();
    return client.query(sql).finally(() => client.end());
  }
});
