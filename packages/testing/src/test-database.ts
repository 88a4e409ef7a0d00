import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { joinCluster } from "@intermission/postgres/join-cluster";
import { type Database, openDatabase } from "@intermission/postgres/open-database";
import { postgresPrograms } from "@intermission/postgres/postgres-programs";
import type { Migrations } from "@intermission/postgres/schema-state";
import { createMigratedDatabase } from "./test-server.ts";

export { createServerDatabase } from "./test-server.ts";

export interface TestDatabase {
  readonly database: Database;
  /** More nodes may open the same database. */
  readonly databaseUrl: string;
  dispose(): Promise<void>;
}

/** Opens a new, migrated database of the test server. */
export async function openTestDatabase(options: {
  readonly schema: string;
  readonly migrations: Migrations;
  readonly poolSize?: number;
}): Promise<TestDatabase> {
  const { schema, migrations, poolSize } = options;
  const server = await createMigratedDatabase(schema, migrations);
  const database = await openDatabase({ databaseUrl: server.url, dataDirectory: "", schema, migrations, poolSize });
  return {
    database,
    databaseUrl: server.url,
    async dispose() {
      await database.close();
      await server.drop();
    },
  };
}

/** The tables of one server in an embedded cluster. */
interface MigratedStore {
  readonly schema: string;
  readonly migrations: Migrations;
}

/**
 * Makes the embedded cluster of a data folder, with the tables of these servers, as a copy of a template that is made once:
 * making a cluster takes a second and a half, copying it a tenth of a second.
 */
export async function copyCluster(dataDirectory: string, ...stores: readonly MigratedStore[]): Promise<void> {
  // These modules make the tables that every schema has.
  const sources = ["migrate.ts", "schema-state.ts", "migration-sql.ts", "commit-epoch.ts", "cluster-folder.ts"].map(
    (name) => readFileSync(join(import.meta.dirname, "../../postgres/src", name), "utf8"),
  );
  const template = await templateOf("cluster", [stores, ...sources], async (fresh) => {
    const cluster = { dataDirectory: fresh, mayCreate: true, buffersMegabytes: 16, logger: undefined, onDeath() {} };
    await (await joinCluster(cluster)).leave();
    for (const { schema, migrations } of stores)
      await (await openDatabase({ dataDirectory: fresh, schema, migrations })).close();
  });
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  // Not Node's copy, which loses the owner of the files.
  execFileSync("cp", ["-a", join(template, "postgres"), dataDirectory]);
}

const OLD_MS = 24 * 60 * 60_000;

/** The folder of a template. If it is missing, `make` makes it. It is kept for the next test run. */
async function templateOf(
  name: string,
  key: readonly unknown[],
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const version = execFileSync(join(postgresPrograms(), "postgres"), ["--version"], { encoding: "utf8" });
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
