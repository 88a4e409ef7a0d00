import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { type CheckedSchema, type CopyOfCluster, checkCopy, tablesOfServers } from "./check-copy.ts";
import { chooseAccount } from "./cluster-account.ts";
import { clusterFolderOf } from "./cluster-folder.ts";
import { serverOf } from "./cluster-process.ts";
import { bytesBelow, copyFile, entriesBelow, type Progress } from "./copy-files.ts";
import { joinCluster } from "./join-cluster.ts";
import { postgresPrograms } from "./postgres-programs.ts";
import { StoreFault } from "./store-faults.ts";

export interface BackUpOptions {
  readonly dataDirectory: string;
  readonly buffersMegabytes: number;
  /** An existing empty folder of mode 0700; the copy is `postgres` inside. */
  readonly target: string;
  /** Copies what belongs to the rows, such as videos. Called before the copy ends, and again after it. */
  readonly copyOthers: () => Promise<void>;
  /** Throws if the target has no room for so many bytes. */
  readonly requireSpace: (bytes: number) => Promise<void>;
  readonly onProgress: Progress;
}

interface ClusterBackup {
  /** Everything that was acknowledged before this moment is in the copy. */
  readonly completeUntil: Date;
  readonly schemas: readonly CheckedSchema[];
}

/**
 * What PostgreSQL makes anew (see its documentation, "Making a Base Backup Using the Low Level API"), and what belongs to
 * the running server. The write-ahead log is copied last, and the control file after all other files.
 */
const withoutContents =
  /^pg_(wal|replslot|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)\/(?!archive_status$|summaries$)/;
const leftOut = [
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|current_logfiles|\.s\.PGSQL\..*)$/,
  /(^|\/)(pgsql_tmp[^/]*|pg_internal\.init[^/]*|t\d+_\d+(_\w+)?(\.\d+)?)(\/|$)/,
];
const isLeftOut = (path: string) => withoutContents.test(path) || leftOut.some((pattern) => pattern.test(path));
/** Of the log during a short backup, and of the check. */
const LOG_BYTES = 64 * 1024 * 1024;
/** SQLSTATE. PostgreSQL ends the session of a slot that keeps more of the log than `max_slot_wal_keep_size`. */
const ADMIN_SHUTDOWN = "57P01";
const controlFile = "global/pg_control";
const segmentName = /^[0-9A-F]{24}$/;

/**
 * Copies the embedded cluster of a data folder while servers use it, and checks that the copy opens. The cluster's server is
 * started if none runs. Rejects with a `StoreFault` that names the next step.
 */
export async function backUpCluster(options: BackUpOptions): Promise<ClusterBackup> {
  const { dataDirectory, buffersMegabytes, target, onProgress } = options;
  const folder = join(target, "postgres");
  let death: StoreFault | undefined;
  const cluster = await joinCluster({
    dataDirectory,
    mayCreate: false,
    buffersMegabytes,
    logger: undefined,
    onDeath(fault) {
      death = fault;
    },
  });
  const client = new pg.Client({ ...cluster.connection, application_name: "intermission backup" });
  let lost: Error | undefined;
  client.on("error", (error) => {
    lost ??= error;
  });
  let completeUntil: Date;
  let expected: string[];
  let copy: CopyOfCluster;
  try {
    const programs = postgresPrograms();
    copy = { folder, programs, account: chooseAccount({ folder, dataDirectory: target, programs }) };
    await client.connect();
    expected = [...new Set((await tablesOfServers(client)).map(({ schema }) => schema))];
    completeUntil = await copyOnline(client, clusterFolderOf(dataDirectory), { ...options, folder });
  } catch (error) {
    const isEnded = lost !== undefined && "code" in lost && lost.code === ADMIN_SHUTDOWN;
    throw death ?? (isEnded && serverOf(clusterFolderOf(dataDirectory)) !== undefined ? logTooLong() : (lost ?? error));
  } finally {
    await client.end().catch(() => {});
    await cluster.leave();
  }
  await options.copyOthers();
  return { completeUntil, schemas: await checkCopy(copy, { expected, onProgress }) };
}

/** One session holds the backup: if it ends, PostgreSQL ends the backup and drops the slot that keeps the log. */
async function copyOnline(
  client: pg.Client,
  source: string,
  { folder, copyOthers, requireSpace, onProgress }: BackUpOptions & { readonly folder: string },
): Promise<Date> {
  await client.query(
    "select pg_create_physical_replication_slot('intermission_backup_' || pg_backend_pid(), true, true)",
  );
  const total = await bytesBelow(source, isLeftOut);
  await requireSpace(total + LOG_BYTES);
  const start = await one<{ segment: string }>(
    client,
    "select pg_walfile_name(pg_backup_start('intermission', fast => true)) as segment",
  );
  await mkdir(folder, { mode: 0o700 });
  let done = 0;
  const copyOne = async (path: string, bytes: number) => {
    onProgress("copying the database", done, total);
    await copyFile(join(source, path), join(folder, path), { maxBytes: bytes });
    done += bytes;
  };
  let control = 0;
  for await (const { path, kind, bytes } of entriesBelow(source, isLeftOut)) {
    if (kind === "folder") await mkdir(join(folder, path), { mode: 0o700 });
    else if (path === controlFile) control = bytes;
    else await copyOne(path, bytes);
  }
  await copyOne(controlFile, control);
  await copyOthers();
  const { now } = await one<{ now: Date }>(client, "select clock_timestamp() as now");
  const stop = await one<{ segment: string; label: string; tablespaces: string | null }>(
    client,
    `select pg_walfile_name(lsn) as segment, labelfile as label, nullif(trim(spcmapfile), '') as tablespaces
     from pg_backup_stop(wait_for_archive => false)`,
  );
  if (stop.tablespaces !== null)
    throw new StoreFault(`${source} has tablespaces, which a backup does not contain: remove them`);
  await writeFile(join(folder, "backup_label"), stop.label, { mode: 0o600 });
  await copyLog(client, { source, folder, from: start.segment, to: stop.segment });
  return now;
}

async function copyLog(
  client: pg.Client,
  { source, folder, from, to }: { source: string; folder: string; from: string; to: string },
): Promise<void> {
  const { status } = await one<{ status: string }>(
    client,
    "select wal_status as status from pg_replication_slots where active_pid = pg_backend_pid()",
  );
  const names = (await readdir(join(source, "pg_wal"))).filter(
    (name) => segmentName.test(name) && name >= from && name <= to,
  );
  if (status === "lost" || !names.includes(from) || !names.includes(to)) {
    throw logTooLong();
  }
  for (const name of names) {
    await copyFile(join(source, "pg_wal", name), join(folder, "pg_wal", name));
  }
}

function logTooLong(): StoreFault {
  return new StoreFault(
    "more was written during the backup than the write-ahead log keeps (4 GB): repeat the backup at a quieter time, or to a faster disk",
  );
}

async function one<Row extends pg.QueryResultRow>(client: pg.Client, text: string): Promise<Row> {
  const { rows } = await client.query<Row>(text);
  if (rows[0] === undefined) throw new Error(`no row: ${text}`);
  return rows[0];
}
