import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { findDebianPrograms, startTemporaryCluster, type TemporaryCluster } from "./temporary-cluster.ts";
import { createServerDatabase } from "./test-database.ts";

/** A backup as operators make it: `pg_dump`, restored by `psql` into an empty database. For tests. */
interface DatabaseDump {
  /** Restores it into a new database of the server at `base`. */
  restoreTo(base: string): Promise<{ url: string; drop(): Promise<void> }>;
  remove(): void;
}

export function dumpDatabase(url: string): DatabaseDump {
  const folder = mkdtempSync(join(tmpdir(), "dump-"));
  const file = join(folder, "dump.sql");
  run("pg_dump", ["--no-owner", `--file=${file}`, url]);
  return {
    async restoreTo(base) {
      const database = await createServerDatabase(base);
      run("psql", ["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", `--file=${file}`, database.url]);
      return database;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Starts another cluster, whose transaction ids begin again. */
export function startOtherCluster(): Promise<TemporaryCluster> {
  return startTemporaryCluster({ fsync: false });
}

/** A cluster whose databases can be dumped: `pg_dump` is for its own version and older ones, and only Debian's is here. */
export async function startDumpableCluster(): Promise<TemporaryCluster> {
  return startTemporaryCluster({ fsync: false, programs: requireDebianPrograms() });
}

/** A streaming replica of a cluster of `startDumpableCluster`. */
export async function startReplica(primary: TemporaryCluster): Promise<TemporaryCluster> {
  return startTemporaryCluster({
    fsync: false,
    programs: requireDebianPrograms(),
    makeData: ({ data, run }) =>
      run("pg_basebackup", ["-d", primary.url, "-D", data, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]),
  });
}

function requireDebianPrograms(): string {
  const programs = findDebianPrograms();
  if (programs === undefined) throw new Error("pg_dump is not installed here: apt-get install postgresql");
  return programs;
}

/** Uses up transaction ids, so that the cluster's next id is far above that of a new cluster. */
export const useUpTransactionIds =
  "do $$ begin for n in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$";

/** Runs SQL on a new connection and returns the rows of the last statement. */
export async function askServer(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const answer: pg.QueryResult | pg.QueryResult[] = await client.query(sql).finally(() => client.end());
  return (Array.isArray(answer) ? answer.at(-1) : answer)?.rows ?? [];
}

function run(program: string, words: readonly string[]): void {
  execFileSync(join(requireDebianPrograms(), program), words, { stdio: ["ignore", "ignore", "pipe"] });
}
