import { randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import type { Migrations } from "./migrate.ts";
import { type Database, openDatabase } from "./open-database.ts";
import { startEmbeddedEngine } from "./start-embedded-engine.ts";

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
  readonly poolSize?: number;
}): Promise<TestDatabase<Tables>> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "intermission-test-"));
  const server = options.kind === "server" ? await createServerDatabase() : undefined;
  if (server === undefined) await copyEmptyStore(join(dataDirectory, "postgres"));
  const database = await openDatabase<Tables>({
    databaseUrl: server?.url,
    dataDirectory,
    schema: options.schema,
    migrations: options.migrations,
    poolSize: options.poolSize,
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

/** Opening a copy of an empty embedded store takes a tenth of the time of making one (0.4 s against 3 s). */
async function copyEmptyStore(folder: string): Promise<void> {
  const require = createRequire(import.meta.url);
  const packageFolder = join(dirname(require.resolve("@electric-sql/pglite")), "..");
  const { version } = require(join(packageFolder, "package.json"));
  const cache = join(import.meta.dirname, "../node_modules/.cache");
  const template = join(cache, `empty-store-${version}`);
  if ((await stat(template).catch(() => undefined)) === undefined) {
    await mkdir(cache, { recursive: true });
    const fresh = await mkdtemp(join(cache, "making-"));
    await (await startEmbeddedEngine(fresh)).close();
    // Another test process may have been faster; its template is as good.
    await rename(fresh, template).catch(() => rm(fresh, { recursive: true, force: true }));
  }
  await cp(template, folder, { recursive: true });
}

/** Creates an empty database on a server, by default that of `TEST_DATABASE_URL`. */
export async function createServerDatabase(
  base = process.env.TEST_DATABASE_URL,
): Promise<{ url: string; drop(): Promise<void> }> {
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
