import { createHash, randomBytes } from "node:crypto";
import { type OpenedDatabase, openDatabase, type Statement } from "@intermission/postgres/open-database";
import { makePartitionText, partitionOfAllWeeks } from "@intermission/postgres/partitions";
import type { Migrations } from "@intermission/postgres/schema-state";
import pg from "pg";
import { startTemporaryCluster, type TemporaryCluster } from "./temporary-cluster.ts";

interface ServerDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates an empty database on a server, by default the server of `TEST_DATABASE_URL`. */
export async function createServerDatabase(base = testServerUrl(), template = "template1"): Promise<ServerDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  // A third of the processor time of PostgreSQL's own choice, which writes each page to the log: 253 files make a database.
  await asAdministrator(base, `create database ${name} template ${template} strategy file_copy`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdministrator(base, `drop database ${name} with (force)`) };
}

/** Creates a migrated database on the test server, as a copy of a template that is migrated once per test run. */
export async function createMigratedDatabase(schema: string, migrations: Migrations): Promise<ServerDatabase> {
  const base = testServerUrl();
  const prefix = templatePrefix();
  if (prefix === undefined) return createServerDatabase(base);
  const hash = createHash("sha256")
    .update(JSON.stringify([schema, migrations]))
    .digest("hex");
  const template = `${prefix}${hash.slice(0, 16)}`;
  await withAdministrator(base, async (client) => {
    // Test files run in parallel, and one of them makes the template. The lock ends with the connection.
    await client.query("select pg_advisory_lock(hashtext($1))", [template]);
    const { rowCount } = await client.query("select from pg_database where datname = $1", [template]);
    if (rowCount === 0) await makeTemplate(base, { template, schema, migrations });
  });
  return createServerDatabase(base, template);
}

async function makeTemplate(
  base: string,
  { template, schema, migrations }: { template: string; schema: string; migrations: Migrations },
): Promise<void> {
  const fresh = await createServerDatabase(base);
  const database = await openDatabase({ databaseUrl: fresh.url, dataDirectory: "", schema, migrations });
  await makeWidePartitions(database, schema);
  await database.close();
  await asAdministrator(base, `alter database ${new URL(fresh.url).pathname.slice(1)} rename to ${template}`);
}

const partitionedByWeek: Statement<{ table: string }> = {
  name: "",
  text: `select relname::text as table from pg_partitioned_table join pg_class on pg_class.oid = partrelid
   where relnamespace = to_regnamespace($1) and partstrat = 'r'`,
};

/** Tests move their clocks by years: one partition of all times stands for those of the weeks that a server makes. */
async function makeWidePartitions(database: OpenedDatabase, schema: string): Promise<void> {
  for (const { table } of await database.run(partitionedByWeek, [schema])) {
    const text = makePartitionText(schema, partitionOfAllWeeks(table));
    await database.withoutTimeout((client) => client.query(text));
  }
}

const OLD_MS = 2 * 60 * 60_000;

let ownCluster: TemporaryCluster | undefined;

/**
 * Called by Vitest before the first test file: starts a cluster where TEST_DATABASE_URL names no server, and sets the name of
 * the run, which contains its time.
 */
export async function setup(): Promise<void> {
  // Called once for each project of the configuration.
  if (!process.env.TEST_DATABASE_URL) {
    ownCluster = await startTemporaryCluster({ fsync: false });
    process.env.TEST_DATABASE_URL = ownCluster.url;
  }
  process.env.TEST_RUN ??= `${Date.now()}_${randomBytes(3).toString("hex")}`;
}

/** Called by Vitest after the last test file: removes the templates of this run, and of killed runs. */
export async function teardown(): Promise<void> {
  if (ownCluster !== undefined) return ownCluster.stop();
  const prefix = templatePrefix();
  if (prefix === undefined || !process.env.TEST_DATABASE_URL) return;
  await withAdministrator(testServerUrl(), async (client) => {
    const text = "select datname from pg_database where datname ~ '^template_[0-9]{13}_'";
    const { rows } = await client.query<{ datname: string }>(text);
    for (const { datname } of rows) {
      const madeAt = Number(datname.split("_")[1]);
      if (datname.startsWith(prefix) || Date.now() - madeAt > OLD_MS) await client.query(`drop database ${datname}`);
    }
  });
}

function templatePrefix(): string | undefined {
  return process.env.TEST_RUN && `template_${process.env.TEST_RUN}_`;
}

function testServerUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error("TEST_DATABASE_URL is not set");
  return url;
}

function asAdministrator(url: string, sql: string): Promise<void> {
  return withAdministrator(url, async (client) => void (await client.query(sql)));
}

async function withAdministrator(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
