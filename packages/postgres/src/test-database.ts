import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { Migrations } from "./migrate.ts";
import { type Database, openDatabase } from "./open-database.ts";

export type TestDatabaseKind = "embedded" | "server";

/** The stores that a test runs on: the embedded one, and a server where `TEST_DATABASE_URL` names one. */
export function testDatabases(): TestDatabaseKind[] {
  return process.env.TEST_DATABASE_URL ? ["embedded", "server"] : ["embedded"];
}

export interface TestDatabase<Tables> {
  readonly database: Database<Tables>;
  /** Set for a server: more nodes may open the same database. */
  readonly databaseUrl: string | undefined;
  dispose(): Promise<void>;
}

/** A fresh, migrated database of its own: a PGlite in a temporary folder, or a database of the test server. */
export async function openTestDatabase<Tables>(options: {
  readonly kind: TestDatabaseKind;
  readonly schema: string;
  readonly migrations: Migrations;
}): Promise<TestDatabase<Tables>> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "intermission-test-"));
  const server = options.kind === "server" ? await createServerDatabase() : undefined;
  const database = await openDatabase<Tables>({
    databaseUrl: server?.url,
    dataDirectory,
    schema: options.schema,
    migrations: options.migrations,
  });
  return {
    database,
    databaseUrl: server?.url,
    async dispose() {
      await database.close();
      await server?.drop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** Creates an empty database on the server of `TEST_DATABASE_URL`. */
export async function createServerDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const base = process.env.TEST_DATABASE_URL;
  if (!base) throw new Error("TEST_DATABASE_URL is not set");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asAdministrator(base, `create database ${name}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdministrator(base, `drop database ${name} with (force)`) };
}

async function asAdministrator(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
