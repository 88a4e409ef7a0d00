import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { makeCommitEpochs } from "./commit-epoch.ts";
import { checksumOf, controlsTransaction } from "./migration-sql.ts";
import { StoreFault } from "./store-faults.ts";

/** The table of a running import: the parts that are stored. While it exists, servers and commands refuse the schema. */
export const importProgress = "import_progress";

/** The SQL of each migration by its name, run in the order of the names: `0001-schema`, `0002-…`. */
export type Migrations = Readonly<Record<string, string>>;

/** Reads the migrations of a folder: `0001-schema.sql`, `0002-….sql`, without gaps. */
export function readMigrations(folder: URL): Migrations {
  const files = readdirSync(folder).sort();
  files.forEach((file, index) => {
    const number = String(index + 1).padStart(4, "0");
    if (!file.startsWith(`${number}-`) || !/^\d{4}-[a-z][a-z0-9-]*\.sql$/.test(file))
      throw new Error(`${file} in ${folder.pathname}: the next migration is called ${number}-<words>.sql`);
  });
  return Object.fromEntries(
    files.map((file) => {
      const sql = readFileSync(new URL(file, folder), "utf8");
      if (controlsTransaction(sql)) throw new Error(`${file} begins or ends a transaction: all migrations run in one`);
      return [file.slice(0, -".sql".length), sql];
    }),
  );
}

/** How the schema in a database relates to the migrations of this version. */
export type SchemaState =
  | { readonly state: "current" }
  | { readonly state: "older"; readonly missing: readonly string[] }
  | { readonly state: "newer"; readonly unknown: readonly string[] }
  | { readonly state: "edited"; readonly name: string; readonly found: string; readonly expected: string }
  | { readonly state: "out-of-order"; readonly name: string; readonly lastRan: string };

/** `ran`: the checksums of the migrations that ran, by name. */
export function schemaStateOf(ran: ReadonlyMap<string, string>, migrations: Migrations): SchemaState {
  const unknown = [...ran.keys()].filter((name) => migrations[name] === undefined).sort();
  if (unknown.length > 0) return { state: "newer", unknown };
  const lastRan = [...ran.keys()].sort().at(-1) ?? "";
  const missing: string[] = [];
  for (const [name, sql] of Object.entries(migrations).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const found = ran.get(name);
    const expected = checksumOf(sql);
    if (found !== undefined && found !== expected) return { state: "edited", name, found, expected };
    if (found === undefined && name < lastRan) return { state: "out-of-order", name, lastRan };
    if (found === undefined) missing.push(name);
  }
  return missing.length === 0 ? { state: "current" } : { state: "older", missing };
}

/** The migration that runs last: the version of the schema that a server uses. */
export function newestMigration(migrations: Migrations): string | undefined {
  return Object.keys(migrations).sort().at(-1);
}

/**
 * Makes or updates the schema in one transaction, so that a migration that fails leaves the store as it was, for the version
 * that used it. An advisory lock lets one of several nodes that start at the same time do this, and the others wait for it.
 *
 * Rejects with a `StoreFault` for a schema of a newer version, a migration that was edited after it ran, and one that fails.
 */
export async function migrate(
  client: pg.ClientBase,
  schema: string,
  migrations: Migrations,
  { isImporting = false }: { readonly isImporting?: boolean } = {},
): Promise<void> {
  await client.query("begin");
  try {
    await client.query("select pg_advisory_xact_lock(hashtext($1))", [`intermission.migrate.${schema}`]);
    if (!isImporting) await requireNoImport(client, schema);
    // "create schema if not exists" needs a right that the owner of an existing schema may lack.
    const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
    if (rowCount === 0) await client.query(`create schema ${schema}`);
    await client.query(
      `create table if not exists ${schema}.migrations (name text primary key, checksum text not null, ran_at timestamptz not null default now())`,
    );
    await makeCommitEpochs(client, schema);
    const state = schemaStateOf(await ranMigrations(client, schema), migrations);
    if (state.state !== "current" && state.state !== "older") throw refusalOf(schema, state, migrations);
    for (const name of state.state === "older" ? state.missing : [])
      await runOne(client, schema, { name, sql: migrations[name] ?? "" });
    await client.query("commit");
  } catch (error) {
    // A lost connection has rolled back already, and its own error is more useful.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/**
 * For programs that only use the tables of a server: throws a `StoreFault` unless the schema exists in this version. Changes
 * nothing.
 */
export async function requireMigrated(client: pg.ClientBase, schema: string, migrations: Migrations): Promise<void> {
  const { rows } = await client.query<{ is_there: boolean }>("select to_regclass($1) is not null as is_there", [
    `${schema}.migrations`,
  ]);
  if (rows[0]?.is_there !== true) {
    throw new StoreFault(
      `the database has no schema "${schema}" yet: start the server once, which makes it, or name the right database`,
    );
  }
  await requireNoImport(client, schema);
  const state = schemaStateOf(await ranMigrations(client, schema), migrations);
  if (state.state !== "current") throw refusalOf(schema, state, migrations);
}

async function requireNoImport(client: pg.ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<{ is_there: boolean }>("select to_regclass($1) is not null as is_there", [
    `${schema}.${importProgress}`,
  ]);
  if (rows[0]?.is_there !== true) return;
  throw new StoreFault(
    `an import into the schema "${schema}" has not ended: repeat the command import with the same folder, which goes on where it ` +
      `stopped; or begin anew after: drop schema ${schema} cascade`,
  );
}

/** The checksums of the migrations that ran, by name. */
export async function ranMigrations(client: pg.ClientBase, schema: string): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    `select name, checksum from ${schema}.migrations`,
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/** These faults are the database's answer to the statements; others, such as a full disk, have messages of their own. */
const SQLSTATES_OF_STATEMENTS = /^(0A|22|23|2B|42(?!501)|P0)/;

async function runOne(
  client: pg.ClientBase,
  schema: string,
  { name, sql }: { readonly name: string; readonly sql: string },
): Promise<void> {
  try {
    await client.query(sql);
    await client.query(`insert into ${schema}.migrations (name, checksum) values ($1, $2)`, [name, checksumOf(sql)]);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !SQLSTATES_OF_STATEMENTS.test(error.code ?? "")) throw error;
    throw new StoreFault(
      `the migration ${name} of the schema "${schema}" failed (${error.message}), and nothing was changed: ` +
        "start the version that used this store before, and report this message",
      { cause: error },
    );
  }
}

const otherVersion =
  "start the version that made this store, or name another store by DATA_DIR or DATABASE_URL; npm run reset removes the store of a demo";

function refusalOf(
  schema: string,
  state: Exclude<SchemaState, { state: "current" }>,
  migrations: Migrations,
): StoreFault {
  switch (state.state) {
    case "older":
      return new StoreFault(
        `the schema "${schema}" is of an older version (${state.missing.join(", ")} did not run yet): start the server of this version once, which updates it`,
      );
    case "newer":
      return new StoreFault(
        `the schema "${schema}" is of a newer version: it has ${state.unknown.join(", ")}, and this version ends with ${Object.keys(migrations).sort().at(-1)}; ${otherVersion}`,
      );
    case "edited":
      return new StoreFault(
        `the migration ${state.name} of the schema "${schema}" was changed after it ran: it ran with the checksum ${state.found.slice(0, 12)}, and that of this version is ${state.expected.slice(0, 12)}; ${otherVersion}`,
      );
    case "out-of-order":
      return new StoreFault(
        `the migration ${state.name} of the schema "${schema}" comes too late, since ${state.lastRan} ran already: give it a number above that one; or ${otherVersion}`,
      );
  }
}
