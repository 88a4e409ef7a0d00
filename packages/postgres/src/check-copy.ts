import { chown, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { ClusterAccount } from "./cluster-account.ts";
import { type ClusterServer, serverOf, startServer, stopServer, traceFilesOf } from "./cluster-process.ts";
import { entriesBelow, type Progress } from "./copy-files.ts";
import { isDiskFull, StoreFault, wordsOf } from "./store-faults.ts";

/** What a copy of a cluster holds of one server. */
export interface CheckedSchema {
  readonly schema: string;
  readonly tables: number;
  readonly rows: number;
}

export interface CopyOfCluster {
  readonly folder: string;
  readonly account: ClusterAccount;
  readonly programs: string;
}

/** The write-ahead log of a long backup takes longer to replay than that of a crash. */
const START_WITHIN_MS = 15 * 60_000;

/**
 * Starts a server on a copy of a cluster, which replays its write-ahead log, reads every row of the servers' schemas (so
 * PostgreSQL compares the checksum of every page), and stops it. Afterwards the copy needs no recovery. Throws a
 * `StoreFault` if it does not open, or does not hold the `expected` schemas.
 */
export async function checkCopy(
  copy: CopyOfCluster,
  { expected, onProgress }: { readonly expected: readonly string[]; readonly onProgress: Progress },
): Promise<CheckedSchema[]> {
  const { folder, account } = copy;
  try {
    await giveTo(account, folder);
    onProgress("starting a server on the copy", 0, 0);
    const server = await startServer({ ...copy, buffersMegabytes: 32, startWithinMs: START_WITHIN_MS });
    let found: CheckedSchema[];
    try {
      found = await readSchemas(server, onProgress);
    } finally {
      await stopServer(folder, server);
      server.stopCounting();
    }
    const missing = expected.filter((name) => !found.some(({ schema }) => schema === name));
    if (missing.length > 0) throw new Error(`the schema ${missing.join(", ")} is missing`);
    if (found.length === 0) throw new Error("it has no schema of a server");
    return found;
  } catch (error) {
    throw faultOfCopy(folder, error);
  } finally {
    for (const path of [...traceFilesOf(folder), join(folder, "backup_label.old")]) await rm(path, { force: true });
  }
}

function faultOfCopy(folder: string, error: unknown): StoreFault {
  const words = wordsOf(error);
  return new StoreFault(
    isDiskFull(error)
      ? `the disk of ${folder} is full (${words}): free some space, then repeat the command`
      : `the copy in ${folder} does not open: ${words}. Repeat the command; if that fails, too, what was copied is damaged`,
    { cause: error },
  );
}

/** Stops the server of a copy, which still runs if the process that checked the copy was killed. */
export async function stopCopy(folder: string): Promise<void> {
  const running = serverOf(folder);
  if (running !== undefined) await stopServer(folder, running);
  for (const path of traceFilesOf(folder)) await rm(path, { force: true });
}

async function giveTo(account: ClusterAccount, folder: string): Promise<void> {
  if (account.kind !== "other-user") return;
  const { uid, gid } = account;
  await chown(folder, uid, gid);
  for await (const { path } of entriesBelow(folder)) await chown(join(folder, path), uid, gid);
}

async function readSchemas({ connection }: ClusterServer, onProgress: Progress): Promise<CheckedSchema[]> {
  const client = new pg.Client(connection);
  client.on("error", () => {});
  await client.connect();
  try {
    // An index would be read instead of the table.
    await client.query("set enable_indexscan to off; set enable_indexonlyscan to off; set enable_bitmapscan to off");
    const tables = await tablesOfServers(client);
    const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
    const found = new Map<string, CheckedSchema>();
    let done = 0;
    for (const { schema, name, bytes } of tables) {
      onProgress("checking the copy", done, total);
      const { rows } = await client.query<{ count: string }>(
        `select count(*) from ${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`,
      );
      const before = found.get(schema) ?? { schema, tables: 0, rows: 0 };
      found.set(schema, { schema, tables: before.tables + 1, rows: before.rows + Number(rows[0]?.count) });
      done += bytes;
    }
    return [...found.values()];
  } finally {
    await client.end();
  }
}

interface TableOfServer {
  readonly schema: string;
  readonly name: string;
  readonly bytes: number;
}

/** The tables in the schemas of our servers: each has `commit_epochs`. */
export async function tablesOfServers(client: pg.ClientBase): Promise<TableOfServer[]> {
  const { rows } = await client.query<{ schema: string; name: string; bytes: string }>(
    `select n.nspname as schema, c.relname as name, pg_relation_size(c.oid)::text as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm')
       and n.oid in (select relnamespace from pg_class where relname = 'commit_epochs' and relkind = 'r')
     order by n.nspname, c.relname`,
  );
  return rows.map(({ bytes, ...row }) => ({ ...row, bytes: Number(bytes) }));
}
