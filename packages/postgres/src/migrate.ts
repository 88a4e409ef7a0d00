import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { makeCommitEpochs } from "./commit-epoch.ts";
import { type ConcurrentIndex, concurrentIndexOf, faultOfMigration } from "./migration-sql.ts";
import {
  lastOpenedBy,
  type Migrations,
  type RanMigration,
  ranMigrationOf,
  refusalOf,
  type SchemaState,
  schemaStateOf,
} from "./schema-state.ts";
import { StoreFault } from "./store-faults.ts";

/** The table of a running import: the parts that are stored. While it exists, servers and commands refuse the schema. */
export const importProgress = "import_progress";

/** Reads the migrations of a folder: `0001-schema.sql`, `0002-….sql`, without gaps. */
export function readMigrations(folder: URL): Migrations {
  const files = readdirSync(folder).sort();
  const names = files.map((file) => file.slice(0, -".sql".length));
  files.forEach((file, index) => {
    const number = String(index + 1).padStart(4, "0");
    if (!file.startsWith(`${number}-`) || !/^\d{4}-[a-z][a-z0-9-]*\.sql$/.test(file))
      throw new Error(`${file} in ${folder.pathname}: the next migration is called ${number}-<words>.sql`);
  });
  return Object.fromEntries(
    files.map((file, index) => {
      const sql = readFileSync(new URL(file, folder), "utf8");
      const fault = faultOfMigration(sql, names.slice(0, index));
      if (fault !== undefined) throw new Error(`${file} ${fault}`);
      return [names[index], sql];
    }),
  );
}

interface MigrateOptions {
  /** The schema may be that of an import that has not ended. */
  readonly isImporting?: boolean;
  /** A statement that waits longer for a lock gives way to others, and is tried again. */
  readonly lockWaitMs?: number;
  /** Of the program that opens the store. */
  readonly version?: string | undefined;
  /** Called with what is waited for. */
  readonly onStep?: OnStep | undefined;
}

/** Is told what the opening of a store waits for now, in words after "waits for". */
export type OnStep = (what: string) => void;

/**
 * Makes or updates the schema. What is missing runs in one transaction, so that a migration that fails leaves the store as it
 * was, for the version that used it; an index that is made concurrently runs by itself, between the transactions before and
 * after it. An advisory lock lets one of several nodes that start at the same time do this, and the others wait for it.
 *
 * Rejects with a `StoreFault` for a schema of a newer version, a migration that was edited after it ran, and one that fails.
 */
export async function migrate(
  client: pg.ClientBase,
  schema: string,
  migrations: Migrations,
  options: MigrateOptions = {},
): Promise<SchemaState> {
  const { onStep = () => {} } = options;
  await lockMigrations(client, schema, onStep);
  try {
    for (;;) {
      const { state, next } = await givingWay(client, schema, () =>
        runTransactional(client, schema, migrations, { ...options, onStep }),
      );
      if (next === undefined) return state;
      onStep(stepOf(schema, next.name));
      await runAlone(client, schema, next, options.version);
    }
  } finally {
    await client.query("select pg_advisory_unlock(hashtext($1))", [lockName(schema)]).catch(() => {});
  }
}

function stepOf(schema: string, migration: string): string {
  return `migration ${migration} of the schema "${schema}"`;
}

function lockName(schema: string): string {
  return `intermission.migrate.${schema}`;
}

const LOOK_EVERY_MS = 100;
const LOCKED_WITHIN_MS = 3_600_000;

/**
 * Takes the lock by asking again and again: a session that waits for it has a snapshot, and `create index concurrently` waits
 * for all snapshots.
 */
async function lockMigrations(client: pg.ClientBase, schema: string, onStep: OnStep): Promise<void> {
  const giveUpAt = Date.now() + LOCKED_WITHIN_MS;
  while (Date.now() < giveUpAt) {
    const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_lock(hashtext($1)) as locked", [
      lockName(schema),
    ]);
    if (rows[0]?.locked === true) return;
    onStep(`another node, which migrates the schema "${schema}"`);
    await wait(LOOK_EVERY_MS);
  }
  throw new StoreFault(
    `another node has been migrating the schema "${schema}" for an hour: look at its log, end it, then start again`,
  );
}

interface MissingMigration {
  readonly name: string;
  readonly sql: string;
}

/** Runs what is missing up to the next migration that runs by itself, and returns that one. */
async function runTransactional(
  client: pg.ClientBase,
  schema: string,
  migrations: Migrations,
  { isImporting = false, lockWaitMs = 1000, onStep, version }: MigrateOptions & { readonly onStep: OnStep },
): Promise<{ state: SchemaState; next: (MissingMigration & { readonly index: ConcurrentIndex }) | undefined }> {
  await client.query("begin");
  try {
    await client.query(`set local lock_timeout to ${lockWaitMs}`);
    if (!isImporting) await requireNoImport(client, schema);
    await makeOwnTables(client, schema);
    const ran = await ranMigrations(client, schema);
    const state = schemaStateOf(ran, migrations);
    if (state.state !== "current" && state.state !== "older" && state.state !== "ahead")
      throw refusalOf(schema, state, { migrations, openedBy: lastOpenedBy(ran) });
    for (const name of state.state === "older" ? state.missing : []) {
      const migration = { name, sql: migrations[name] ?? "" };
      const index = concurrentIndexOf(migration.sql);
      if (index !== undefined) {
        await client.query("commit");
        return { state, next: { ...migration, index } };
      }
      onStep(stepOf(schema, name));
      await runOne(client, schema, migration, version);
    }
    if (version !== undefined) await noteOpened(client, schema, version);
    await client.query("commit");
    return { state: state.state === "older" ? { state: "current" } : state, next: undefined };
  } catch (error) {
    // A lost connection has rolled back already, and its own error is more useful.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

async function makeOwnTables(client: pg.ClientBase, schema: string): Promise<void> {
  // "create schema if not exists" needs a right that the owner of an existing schema may lack.
  const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
  if (rowCount === 0) await client.query(`create schema ${schema}`);
  const { rows } = await client.query<{ columns: number }>(
    "select count(*)::int as columns from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped",
    [`${schema}.migrations`],
  );
  if (rows[0]?.columns === 0) {
    await client.query(
      `create table ${schema}.migrations (name text primary key, checksum text not null, works_with text, ran_at timestamptz not null default now(), opened_by text)`,
    );
  } else if ((rows[0]?.columns ?? 0) < 5) {
    await client.query(`alter table ${schema}.migrations add column if not exists opened_by text`);
  }
  await makeCommitEpochs(client, schema);
}

const MAX_TRIES = 60;
/** SQLSTATE: the lock was not available in time, or a deadlock. */
const GIVING_WAY = ["55P03", "40P01"];

/** A statement that waits for a lock of a table holds up all others that use the table. So it waits briefly, and again. */
async function givingWay<Result>(
  client: pg.ClientBase,
  schema: string,
  attempt: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !GIVING_WAY.includes(error.code ?? "")) throw error;
      if (tries === MAX_TRIES) throw await faultOfLock(client, schema, error);
      await wait(500 + Math.random() * 1000);
    }
  }
}

async function faultOfLock(client: pg.ClientBase, schema: string, cause: pg.DatabaseError): Promise<StoreFault> {
  const { rows } = await client.query<{ pid: number; name: string; since: string }>(
    `select pid, application_name as name, to_char(xact_start, 'HH24:MI:SS') as since from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null order by xact_start limit 1`,
  );
  const oldest =
    rows[0] && `; the oldest is process ${rows[0].pid} (${rows[0].name || "no name"}), since ${rows[0].since}`;
  return new StoreFault(
    `the migrations of the schema "${schema}" wait for a lock that another transaction holds${oldest ?? ""}: end it, then start again`,
    { cause },
  );
}

/** Makes or drops an index while others read and write, outside of a transaction. */
async function runAlone(
  client: pg.ClientBase,
  schema: string,
  { name, sql, index }: MissingMigration & { readonly index: ConcurrentIndex },
  version: string | undefined,
): Promise<void> {
  // A run that was stopped leaves an invalid index, which "if not exists" would keep.
  const dropInvalid = async () => {
    const { rowCount } = await client.query(
      `select from pg_index join pg_class on pg_class.oid = indexrelid
       where relname = $1 and relnamespace = to_regnamespace($2) and not indisvalid`,
      [index.name, schema],
    );
    if (rowCount !== 0) await client.query(`drop index concurrently ${schema}.${pg.escapeIdentifier(index.name)}`);
  };
  if (index.action === "create") await dropInvalid();
  try {
    await client.query(sql);
  } catch (error) {
    if (index.action === "create") await dropInvalid().catch(() => {});
    throw faultOfStatement(error, `the migration ${name} of the schema "${schema}" failed`, "this index was not made");
  }
  await noteRan(client, schema, { name, sql }, version);
}

/**
 * For programs that only use the tables of a server: throws a `StoreFault` unless this version works on the schema. Changes
 * nothing.
 */
export async function requireMigrated(
  client: pg.ClientBase,
  schema: string,
  migrations: Migrations,
): Promise<SchemaState> {
  const { rows } = await client.query<{ is_there: boolean }>("select to_regclass($1) is not null as is_there", [
    `${schema}.migrations`,
  ]);
  if (rows[0]?.is_there !== true) {
    throw new StoreFault(
      `the database has no schema "${schema}" yet: start the server once, which makes it, or name the right database`,
    );
  }
  await requireNoImport(client, schema);
  const ran = await ranMigrations(client, schema);
  const state = schemaStateOf(ran, migrations);
  if (state.state !== "current" && state.state !== "ahead")
    throw refusalOf(schema, state, { migrations, openedBy: lastOpenedBy(ran) });
  return state;
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

/** The migrations that ran, by name. */
export async function ranMigrations(client: pg.ClientBase, schema: string): Promise<Map<string, RanMigration>> {
  const { rows } = await client.query<RanMigration & { name: string }>(
    // As JSON, since the table of a store that is not this program's may lack the column.
    `select name, checksum, to_jsonb(ran) ->> 'works_with' as "worksWith", to_jsonb(ran) ->> 'opened_by' as "openedBy"
     from ${schema}.migrations as ran`,
  );
  return new Map(rows.map(({ name, ...ran }) => [name, ran]));
}

async function runOne(
  client: pg.ClientBase,
  schema: string,
  migration: MissingMigration,
  version: string | undefined,
): Promise<void> {
  try {
    await client.query(migration.sql);
  } catch (error) {
    throw faultOfStatement(
      error,
      `the migration ${migration.name} of the schema "${schema}" failed`,
      "nothing was changed",
    );
  }
  await noteRan(client, schema, migration, version);
}

async function noteRan(
  client: pg.ClientBase,
  schema: string,
  { name, sql }: MissingMigration,
  version: string | undefined,
): Promise<void> {
  const { checksum, worksWith } = ranMigrationOf(sql);
  await client.query(
    `insert into ${schema}.migrations (name, checksum, works_with, opened_by) values ($1, $2, $3, $4)`,
    [name, checksum, worksWith, version],
  );
}

/** The last migration says which version has opened the store last. */
async function noteOpened(client: pg.ClientBase, schema: string, version: string): Promise<void> {
  await client.query(
    `update ${schema}.migrations set opened_by = $1
     where name = (select max(name) from ${schema}.migrations) and opened_by is distinct from $1`,
    [version],
  );
}

/** These faults are the database's answer to the statements; others, such as a full disk, have messages of their own. */
const SQLSTATES_OF_STATEMENTS = /^(0A|22|23|2B|42(?!501)|P0)/;

function faultOfStatement(error: unknown, what: string, result: string): unknown {
  if (!(error instanceof pg.DatabaseError) || !SQLSTATES_OF_STATEMENTS.test(error.code ?? "")) return error;
  return new StoreFault(
    `${what} (${error.message}), and ${result}: start the version that used this store before, and report this message`,
    { cause: error },
  );
}
