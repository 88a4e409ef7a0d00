import { createHash } from "node:crypto";
import type pg from "pg";
import { makeCommitEpochs } from "./commit-epoch.ts";
import { StoreFault } from "./store-faults.ts";

/** SQL text, run in one transaction. */
export type Migration = string;
/** Migrations by name, run in the order of their names: `0001-tables`, `0002-…`. */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Updates the schema. Several nodes may start at the same time: an advisory lock lets one of them run the migrations.
 * Refuses a database with migrations that this version does not know or whose text was changed after they ran, and a
 * migration whose name sorts before one that ran already.
 */
export async function migrate(client: pg.ClientBase, schema: string, migrations: Migrations): Promise<void> {
  const lockName = [`intermission.migrate.${schema}`];
  await client.query("select pg_advisory_lock(hashtext($1))", lockName);
  try {
    // "create schema if not exists" needs a right that the owner of an existing schema may lack.
    const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
    if (rowCount === 0) await client.query(`create schema ${schema}`);
    await client.query(
      `create table if not exists ${schema}.migrations (name text primary key, checksum text not null, ran_at timestamptz not null default now())`,
    );
    await makeCommitEpochs(client, schema);
    await runMissing(client, schema, migrations);
  } finally {
    // A lost connection has released the lock already, and its own error is more useful.
    await client.query("select pg_advisory_unlock(hashtext($1))", lockName).catch(() => {});
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
  const ran = await readRan(client, schema, migrations);
  const missing = Object.keys(migrations)
    .filter((name) => !ran.has(name))
    .sort();
  if (missing.length > 0) {
    throw new StoreFault(
      `the schema "${schema}" is of an older version (${missing.join(", ")} did not run yet): start the server of this version once, which updates it`,
    );
  }
}

async function readRan(client: pg.ClientBase, schema: string, migrations: Migrations): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    `select name, checksum from ${schema}.migrations`,
  );
  const ran = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const unknown = [...ran.keys()].filter((name) => migrations[name] === undefined).sort();
  if (unknown.length > 0) {
    throw new StoreFault(
      `the database was migrated by a newer version (it knows ${unknown.join(", ")}): start that version`,
    );
  }
  return ran;
}

async function runMissing(client: pg.ClientBase, schema: string, migrations: Migrations): Promise<void> {
  const ran = await readRan(client, schema, migrations);
  const lastRan = [...ran.keys()].sort().at(-1) ?? "";
  const inOrder = Object.entries(migrations).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, text] of inOrder) {
    const checksum = createHash("sha256").update(text).digest("hex");
    const ranChecksum = ran.get(name);
    if (ranChecksum === checksum) continue;
    if (ranChecksum !== undefined)
      throw new Error(`migration ${name} was changed after it ran on this database: add a new one`);
    if (name < lastRan)
      throw new Error(`migration ${name} comes too late, ${lastRan} ran already: give it a name that sorts after it`);
    await runOne(client, schema, { name, text, checksum });
  }
}

async function runOne(
  client: pg.ClientBase,
  schema: string,
  { name, text, checksum }: { name: string; text: string; checksum: string },
): Promise<void> {
  try {
    await client.query("begin");
    await client.query(text);
    await client.query(`insert into ${schema}.migrations (name, checksum) values ($1, $2)`, [name, checksum]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw new Error(`migration ${name} failed`, { cause: error });
  }
}
