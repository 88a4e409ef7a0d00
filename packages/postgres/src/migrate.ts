import { createHash } from "node:crypto";
import type pg from "pg";
import { makeCommitEpochs } from "./commit-epoch.ts";
import { StoreFault } from "./store-fault.ts";

/** SQL text, one transaction. */
export type Migration = string;
/** By name, run in the order of their names: `0001-tables`, `0002-…`. */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Brings the schema up to date. Several nodes may start at once: an advisory lock lets one of them do it. Refuses a
 * database that knows migrations which this version does not, or whose text was changed after they ran, and a migration
 * that would run after one of a higher name.
 */
export async function migrate(client: pg.ClientBase, schema: string, migrations: Migrations): Promise<void> {
  const lockName = [`intermission.migrate.${schema}`];
  await client.query("select pg_advisory_lock(hashtext($1))", lockName);
  try {
    // "create schema if not exists" asks for a right that the owner of a ready-made schema may lack.
    const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
    if (rowCount === 0) await client.query(`create schema ${schema}`);
    await client.query(
      `create table if not exists ${schema}.migrations (name text primary key, checksum text not null, ran_at timestamptz not null default now())`,
    );
    await makeCommitEpochs(client, schema);
    await runMissing(client, schema, migrations);
  } finally {
    // A lost connection has lost the lock as well, and its own error tells more.
    await client.query("select pg_advisory_unlock(hashtext($1))", lockName).catch(() => {});
  }
}

/**
 * For programs that only use what a server has made: throws a `StoreFault` unless the schema is there and of this version.
 * Changes nothing.
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
      throw new Error(`migration ${name} comes too late, ${lastRan} ran already: give it a later name`);
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
