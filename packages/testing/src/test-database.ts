import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Migrations } from "@intermission/postgres/migrate";
import { type Database, openDatabase } from "@intermission/postgres/open-database";
import { startEmbeddedEngine } from "@intermission/postgres/start-embedded-engine";
import { createMigratedDatabase } from "./test-server.ts";

export { createServerDatabase } from "./test-server.ts";

export type TestDatabaseKind = "embedded" | "server";

/**
 * The store that most tests use: the server of `TEST_DATABASE_URL`, or else the embedded store. With `TEST_STORES=both`, as
 * in `.ci/run`, they use both stores.
 */
export function testDatabases(): [TestDatabaseKind, ...TestDatabaseKind[]] {
  if (!process.env.TEST_DATABASE_URL) return ["embedded"];
  return process.env.TEST_STORES === "both" ? ["server", "embedded"] : ["server"];
}

/** For tests of things that can differ between the stores: statements and plans, locks, cursors, migrations, the driver. */
export function bothTestDatabases(): TestDatabaseKind[] {
  return process.env.TEST_DATABASE_URL ? ["embedded", "server"] : ["embedded"];
}

export interface TestDatabase {
  readonly database: Database;
  /** Set for a server: more nodes may open the same database. */
  readonly databaseUrl: string | undefined;
  dispose(): Promise<void>;
}

/** Opens a new, migrated database: a PGlite in a temporary folder, or a database of the test server. */
export async function openTestDatabase(options: {
  /** Default: the first of `testDatabases`. */
  readonly kind?: TestDatabaseKind;
  readonly schema: string;
  readonly migrations: Migrations;
  readonly poolSize?: number;
}): Promise<TestDatabase> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "intermission-test-"));
  const { kind = testDatabases()[0], schema, migrations } = options;
  const server = kind === "server" ? await createMigratedDatabase(schema, migrations) : undefined;
  if (server === undefined) await copyMigratedStore(join(dataDirectory, "postgres"), { schema, migrations });
  const database = await openDatabase({
    databaseUrl: server?.url,
    dataDirectory,
    schema,
    migrations,
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

/** Makes an empty embedded store in `folder` by copying a template, which is faster than making one (0.4 s against 3 s). */
export async function copyEmptyStore(folder: string): Promise<void> {
  const template = await templateOf("empty-store", [], async (fresh) => {
    await (await startEmbeddedEngine(fresh)).close();
  });
  copyStore(template, folder);
}

/** Makes a migrated embedded store in `folder`, as a copy of a template that is migrated once. */
export async function copyMigratedStore(
  folder: string,
  { schema, migrations }: { readonly schema: string; readonly migrations: Migrations },
): Promise<void> {
  // These two modules make the tables that every schema has.
  const sources = ["migrate.ts", "commit-epoch.ts"].map((name) =>
    readFileSync(join(import.meta.dirname, "../../postgres/src", name), "utf8"),
  );
  const template = await templateOf("migrated-store", [schema, migrations, ...sources], async (fresh) => {
    const dataDirectory = `${fresh}-data`;
    const store = join(dataDirectory, "postgres");
    await copyEmptyStore(store);
    const database = await openDatabase({ dataDirectory, schema, migrations });
    await database.close();
    await rm(fresh, { recursive: true });
    await rename(store, fresh);
    await rm(dataDirectory, { recursive: true });
  });
  copyStore(template, folder);
}

const OLD_MS = 24 * 60 * 60_000;

/** The folder of a template. If it is missing, `make` makes it. It is kept for the next test run. */
async function templateOf(
  name: string,
  key: readonly unknown[],
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const require = createRequire(import.meta.url);
  const packageFolder = join(dirname(require.resolve("@electric-sql/pglite")), "..");
  const { version } = require(join(packageFolder, "package.json"));
  const hash = createHash("sha256")
    .update(JSON.stringify([version, ...key]))
    .digest("hex");
  const cache = join(import.meta.dirname, "../node_modules/.cache/stores");
  const template = join(cache, `${name}-${hash.slice(0, 16)}`);
  if (existsSync(template)) {
    const now = new Date();
    await utimes(template, now, now);
    return template;
  }
  await mkdir(cache, { recursive: true });
  await removeOld(cache);
  const fresh = await mkdtemp(join(cache, "making-"));
  await make(fresh);
  // Another test process may have made it meanwhile; its template is equal.
  await rename(fresh, template).catch(() => rm(fresh, { recursive: true, force: true }));
  return template;
}

/** Removes templates that were not used for a day: those of other migrations, and unfinished ones of killed processes. */
async function removeOld(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const usedAt = (await stat(join(cache, name)).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - usedAt > OLD_MS) await rm(join(cache, name), { recursive: true, force: true });
  }
}

/** Synchronous: an asynchronous copy of the thousand files of a store takes twice the time. */
function copyStore(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
}
