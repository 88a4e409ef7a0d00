import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import pg from "pg";
import { tablesOfServers } from "./check-copy.ts";
import { type ClusterAccount, chooseAccount } from "./cluster-account.ts";
import { clusterFolderOf, initialiseCluster, unfinishedUpgradeOf } from "./cluster-folder.ts";
import { majorOfCluster, majorOfPrograms } from "./cluster-major.ts";
import { serverOf, startServer, stopServer, traceFilesOf } from "./cluster-process.ts";
import { type Progress, syncFolder } from "./copy-files.ts";
import { exportRows } from "./export-store.ts";
import { findManifest, sealExport } from "./exported-store.ts";
import { importRows } from "./import-store.ts";
import { whileAlone } from "./join-cluster.ts";
import { importProgress, ranMigrations } from "./migrate.ts";
import { postgresPrograms } from "./postgres-programs.ts";
import type { Migrations } from "./schema-state.ts";
import { StoreFault } from "./store-faults.ts";

interface UpgradeOptions {
  readonly dataDirectory: string;
  /** The folder of the programs of the version that made the cluster; by default where Debian and Homebrew put them. */
  readonly oldPrograms?: string | undefined;
  /** The schema of one server. Each server moves its own. */
  readonly schema: string;
  readonly migrations: Migrations;
  readonly onProgress: Progress;
}

type Upgraded =
  /** The cluster is of the version of this program. */
  | { readonly outcome: "current"; readonly major: number }
  /** `left`: the schemas that other servers have to move; the old cluster is in use until none is left. */
  | {
      readonly outcome: "moved";
      readonly from: number;
      readonly to: number;
      readonly left: readonly string[];
      readonly kept: string;
    };

/**
 * Moves the rows of a server from an embedded cluster of another major version of PostgreSQL to a new cluster beside it, and
 * compares them. When no server's rows are left, the new cluster takes the old one's place, which stays under another name.
 * Repeated after an interruption, it goes on. Rejects with a `StoreFault`.
 */
export async function upgradeCluster(options: UpgradeOptions): Promise<Upgraded> {
  const dataDirectory = resolve(options.dataDirectory);
  const place = clusterFolderOf(dataDirectory);
  const fresh = unfinishedUpgradeOf(dataDirectory);
  if (!existsSync(place) && !existsSync(fresh))
    throw new StoreFault(`${dataDirectory} holds no store: name the right folder by DATA_DIR`);
  return whileAlone(dataDirectory, async () => {
    // An upgrade that ended between its last two steps.
    if (!existsSync(place)) await rename(fresh, place);
    const programs = postgresPrograms();
    const [from, to] = [majorOfCluster(place), majorOfPrograms(programs)];
    if (from === to) return { outcome: "current", major: to };
    const oldPrograms = requireOldPrograms(from, options.oldPrograms);
    const account = chooseAccount({ folder: place, dataDirectory, programs });
    for (const folder of [place, fresh]) await endLeftOver(folder);
    if (!existsSync(fresh)) await initialiseCluster(fresh, { dataDirectory, account, programs });
    const old = { folder: place, programs: oldPrograms, account };
    const left = await withServer(old, (source) =>
      withServer({ folder: fresh, programs, account }, (target) =>
        moveSchema({ source, target, dataDirectory }, options),
      ),
    );
    const kept = `${place}-${from}`;
    if (left.length === 0) {
      await rm(rowsFolderOf(dataDirectory), { recursive: true, force: true });
      for (const path of traceFilesOf(fresh)) await rm(path, { force: true });
      await rename(place, kept);
      await rename(fresh, place);
      for (const parent of [dataDirectory, dirname(dataDirectory)]) syncFolder(parent);
    }
    return { outcome: "moved", from, to, left, kept };
  });
}

/** The rows on their way: an interrupted import goes on with them. */
function rowsFolderOf(dataDirectory: string): string {
  return `${unfinishedUpgradeOf(dataDirectory)}-rows`;
}

function requireOldPrograms(major: number, named: string | undefined): string {
  const usual = [`/usr/lib/postgresql/${major}/bin`, `/opt/homebrew/opt/postgresql@${major}/bin`];
  const folder = named ?? usual.find((one) => existsSync(join(one, "postgres")));
  if (folder === undefined || !existsSync(join(folder, "postgres"))) {
    throw new StoreFault(
      `the programs of PostgreSQL ${major} are needed to read the store, and are not in ${named ?? usual.join(" or ")}: install them ` +
        `(apt-get install postgresql-${major}, or brew install postgresql@${major}), or name their folder by --programs`,
    );
  }
  const found = majorOfPrograms(folder);
  if (found === major) return folder;
  throw new StoreFault(
    `${folder} has the programs of PostgreSQL ${found}, and the store is of PostgreSQL ${major}: name those by --programs`,
  );
}

async function endLeftOver(folder: string): Promise<void> {
  const running = existsSync(folder) ? serverOf(folder) : undefined;
  if (running !== undefined) await stopServer(folder, running);
}

interface Cluster {
  readonly folder: string;
  readonly programs: string;
  readonly account: ClusterAccount;
}

async function withServer<Result>(cluster: Cluster, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const server = await startServer({ ...cluster, buffersMegabytes: 64 });
  const client = new pg.Client(server.connection);
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
    await stopServer(cluster.folder, server);
    server.stopCounting();
  }
}

/** Moves one schema, and returns those that are left. */
async function moveSchema(
  {
    source,
    target,
    dataDirectory,
  }: { readonly source: pg.Client; readonly target: pg.Client; readonly dataDirectory: string },
  { schema, migrations, onProgress }: UpgradeOptions,
): Promise<string[]> {
  const schemas = await schemasOf(source);
  if (!schemas.includes(schema))
    throw new StoreFault(`the store has no schema "${schema}": its server has not used it`);
  if (!(await isMoved(target, schema))) {
    // The store may be older than this version, which migrates it at its next start.
    const ran = await ranMigrations(source, schema);
    const sameAge = Object.fromEntries(Object.entries(migrations).filter(([name]) => ran.has(name)));
    const folder = join(rowsFolderOf(dataDirectory), schema);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const of = { schema, migrations: sameAge, folder, onProgress };
    if ((await findManifest(folder)) === undefined) {
      const { rows } = await exportRows(source, { ...of, alsoRead: async () => {} });
      await sealExport(folder, { format: "intermission-export/1", ...rows, encryptionKey: null, files: [] });
    }
    const exported = await findManifest(folder);
    if (exported === undefined) throw new Error(`${folder} has no export`);
    await importRows(target, { ...of, exported, copyOthers: async () => {} });
    await rm(folder, { recursive: true });
  }
  const left: string[] = [];
  for (const one of schemas) if (!(await isMoved(target, one))) left.push(one);
  return left;
}

async function schemasOf(client: pg.Client): Promise<string[]> {
  return [...new Set((await tablesOfServers(client)).map(({ schema }) => schema))];
}

async function isMoved(client: pg.Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ is_moved: boolean }>(
    "select to_regclass($1) is not null and to_regclass($2) is null as is_moved",
    [`${schema}.migrations`, `${schema}.${importProgress}`],
  );
  return rows[0]?.is_moved === true;
}
