import { createHash } from "node:crypto";
import type pg from "pg";

/** SQL text, one transaction. */
export type Migration = string;
/** By name, run in the order of their names: `0001-tables`, `0002-…`. */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Brings the schema up to date. Several nodes may start at once: an advisory lock lets one of them do it. Refuses a
 * database that knows migrations which this version does not, or whose text was changed after they ran.
 */
export async function migrate(pool: pg.Pool, schema: string, migrations: Migrations): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext($1))", [`intermission.migrate.${schema}`]);
    try {
      await client.query(`create schema if not exists ${schema}`);
      await client.query(
        `create table if not exists ${schema}.migrations (name text primary key, checksum text not null, ran_at timestamptz not null default now())`,
      );
      await runMissing(client, schema, migrations);
    } finally {
      await client.query("select pg_advisory_unlock(hashtext($1))", [`intermission.migrate.${schema}`]);
    }
  } finally {
    client.release();
  }
}

async function runMissing(client: pg.PoolClient, schema: string, migrations: Migrations): Promise<void> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    `select name, checksum from ${schema}.migrations`,
  );
  const ran = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const unknown = [...ran.keys()].filter((name) => migrations[name] === undefined);
  if (unknown.length > 0) {
    throw new Error(
      `the database was migrated by a newer version (it knows ${unknown.join(", ")}): start that version`,
    );
  }
  for (const name of Object.keys(migrations).sort()) {
    const text = migrations[name] ?? "";
    const checksum = createHash("sha256").update(text).digest("hex");
    const ranChecksum = ran.get(name);
    if (ranChecksum === checksum) continue;
    if (ranChecksum !== undefined)
      throw new Error(`migration ${name} was changed after it ran on this database: add a new one`);
    await client.query("begin");
    try {
      await client.query(text);
      await client.query(`insert into ${schema}.migrations (name, checksum) values ($1, $2)`, [name, checksum]);
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw new Error(`migration ${name} failed`, { cause: error });
    }
  }
}
