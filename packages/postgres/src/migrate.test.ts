import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServerDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Migrations } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";

const a = { "0001-a": "create table a (id int)" };
const b = { "0002-b": "create table b (id int)" };
const c = { "0003-c": "create table c (id int)" };

describe("migrations", () => {
  let dataDirectory = "";
  let server: { url: string; drop(): Promise<void> } | undefined;
  const open = (migrations: Migrations) =>
    openDatabase({ databaseUrl: server?.url, dataDirectory, schema: "shop", migrations });
  const migrateTo = async (migrations: Migrations) => (await open(migrations)).close();
  beforeEach(async () => {
    dataDirectory = mkdtempSync(join(tmpdir(), "migrate-"));
    server = await createServerDatabase();
  });
  afterEach(async () => {
    await server?.drop();
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  test("a database is refused if a newer version migrated it, or if a past migration was edited", async () => {
    await migrateTo({ ...a, ...c });
    await expect(open(a)).rejects.toThrow("newer version (it knows 0003-c)");
    await expect(open({ ...c, "0001-a": "create table a (id text)" })).rejects.toThrow(
      "0001-a was changed after it ran",
    );
    await expect(open({ ...a, ...b, ...c })).rejects.toThrow("0002-b comes too late, 0003-c ran already");
  });

  test("a failed migration changes nothing, and its corrected version runs", async () => {
    const broken = { "0002-b": "create table b (id int); create tabel" };
    await expect(open({ ...a, ...broken })).rejects.toThrow("0002-b failed");
    await migrateTo({ ...a, ...b });
  });

  test("of nodes that start at the same time one migrates, and the others wait for it", async () => {
    const slow = { ...a, "0002-slow": "create table s (id int); select pg_sleep(0.5); insert into s values (1)" };
    const nodes = await Promise.all(Array.from({ length: 4 }, () => open(slow)));
    await Promise.all(nodes.map((node) => node.close()));
    const { rows } = await ask("select count(*)::int as rows from shop.s");
    expect(rows).toEqual([{ rows: 1 }]);
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
