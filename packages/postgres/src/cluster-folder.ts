import { spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ClusterAccount, commandOf } from "./cluster-account.ts";
import { syncFolder } from "./copy-files.ts";
import { EngineDeath, faultOfDeath, StoreFault, wordsOf } from "./store-faults.ts";

/** Without these PostgreSQL does not start. */
const neededEntries = [
  "PG_VERSION",
  "base",
  "global",
  "global/pg_control",
  "pg_hba.conf",
  "pg_multixact",
  "pg_notify",
  "pg_replslot",
  "pg_twophase",
  "pg_wal",
  "pg_xact",
  "postgresql.conf",
];
/** Where the cluster of a data folder is. */
export function clusterFolderOf(dataDirectory: string): string {
  return join(dataDirectory, "postgres");
}

/** Whether the folder has a cluster. Throws a `StoreFault` for an incomplete one, and for the store of an earlier version. */
export function checkCluster(dataDirectory: string): "whole" | "missing" {
  refuseEarlierStore(dataDirectory);
  const folder = clusterFolderOf(dataDirectory);
  const unfinished = unfinishedRestoreOf(dataDirectory);
  if (existsSync(unfinished)) {
    throw new StoreFault(
      `the restore of a backup into ${dataDirectory} did not end: repeat it (pnpm ads restore); ` +
        `or remove ${unfinished} to begin with an empty store`,
    );
  }
  if (entriesOf(folder).length === 0) {
    const upgrade = unfinishedUpgradeOf(dataDirectory);
    if (!existsSync(upgrade)) return "missing";
    throw new StoreFault(
      `the upgrade of the store in ${dataDirectory} did not end: repeat it (pnpm ads upgrade-store)`,
    );
  }
  const missing = neededEntries.filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return "whole";
  throw new StoreFault(
    `${folder} is not a whole store, ${missing.slice(0, 3).join(", ")}${missing.length > 3 ? ` and ${missing.length - 3} more` : ""} missing: ` +
      "restore all of the folder from a backup, its empty folders too; or move it away to begin with an empty store",
  );
}

/** The cluster of a restore that has not ended. */
export function unfinishedRestoreOf(dataDirectory: string): string {
  return `${clusterFolderOf(dataDirectory)}.restoring`;
}

/** The cluster of an upgrade that has not ended. */
export function unfinishedUpgradeOf(dataDirectory: string): string {
  return `${clusterFolderOf(dataDirectory)}.upgrading`;
}

/** Throws a `StoreFault` if the data folder has a store, or the rest of one. A repeated restore replaces what the first one made. */
export function requireNoData(dataDirectory: string, { isRepeated }: { readonly isRepeated: boolean }): void {
  refuseEarlierStore(dataDirectory);
  const folder = clusterFolderOf(dataDirectory);
  const [found] = [
    ...(entriesOf(folder).length > 0 ? [folder] : []),
    ...(isRepeated ? [] : otherDataIn(dataDirectory)),
  ];
  if (found === undefined) return;
  throw new StoreFault(
    `${dataDirectory} has data (${found}): a backup is restored only where nothing is. Name an empty folder by DATA_DIR, ` +
      "or stop the servers and move this one away",
  );
}

function refuseEarlierStore(dataDirectory: string): void {
  const earlier = entriesOf(dataDirectory)
    .map((name) => join(dataDirectory, name, "postgres"))
    .find((folder) => existsSync(join(folder, "PG_VERSION")));
  if (earlier === undefined) return;
  throw new StoreFault(
    `${earlier} is the embedded store of an earlier version (PGlite), which this version cannot read: to keep its data, ` +
      "go on with the version that made it; to begin with an empty store, move that folder away",
  );
}

interface NewCluster {
  readonly account: ClusterAccount;
  readonly programs: string;
}

/** Makes the cluster of a data folder that has no other data. The caller holds the lock of the cluster. */
export async function makeCluster(dataDirectory: string, { account, programs }: NewCluster): Promise<void> {
  const folder = clusterFolderOf(dataDirectory);
  const others = otherDataIn(dataDirectory);
  if (others.length > 0) {
    throw new StoreFault(
      `${dataDirectory} holds ${others.slice(0, 3).join(", ")} but no store (${folder} is missing or empty): restore it from a backup, ` +
        "or set DATABASE_URL if the data are in a PostgreSQL server; to begin with an empty store, move the folder away",
    );
  }
  await initialiseCluster(folder, { dataDirectory, account, programs });
}

/** Makes a cluster under another name and renames it: if the process crashes meanwhile, the next start makes it again. */
export async function initialiseCluster(
  folder: string,
  { dataDirectory, account, programs }: NewCluster & { readonly dataDirectory: string },
): Promise<void> {
  removeHalfMade(dataDirectory);
  // initdb outlives a process that is killed, and removes its folder when it fails: the next one needs another name.
  const halfMade = mkdtempSync(halfMadePrefix(dataDirectory));
  if (account.kind === "other-user") chownSync(halfMade, account.uid, account.gid);
  try {
    await initialise(join(programs, "initdb"), { folder: halfMade, account });
  } catch (error) {
    rmSync(halfMade, { recursive: true, force: true });
    if (!(error instanceof EngineDeath)) throw error;
    const fault = faultOfDeath(folder, error);
    if (fault.message.startsWith("the disk")) throw fault;
    throw new StoreFault(`no store can be made in ${folder}: ${wordsOf(error)}`, { cause: error });
  }
  renameSync(halfMade, folder);
  removeHalfMade(dataDirectory);
  // initdb has synced all below this name, but not the name.
  for (const parent of [dataDirectory, dirname(dataDirectory)]) syncFolder(parent);
}

function halfMadePrefix(dataDirectory: string): string {
  return `${clusterFolderOf(dataDirectory)}.new-`;
}

/** What starts left that were killed. An initdb that still runs may write there: then a later start removes it. */
function removeHalfMade(dataDirectory: string): void {
  const prefix = halfMadePrefix(dataDirectory);
  const found = entriesOf(dataDirectory).map((name) => join(dataDirectory, name));
  for (const path of found.filter((path) => path.startsWith(prefix))) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error;
    }
  }
}

/**
 * A process that can open the socket may use the cluster (trust): its folder has mode 0700, so only its owner and root can.
 * `peer` would compare names of users, and a user namespace or a container may have no name for its user.
 */
const initdbWords = [
  "--username=postgres",
  "--auth-local=trust",
  "--auth-host=reject",
  "--encoding=UTF8",
  "--locale=C",
  // The order of C, and letters of all scripts in lower(), which a search needs.
  "--locale-provider=builtin",
  "--builtin-locale=C.UTF-8",
  "--no-instructions",
];

function initialise(
  initdb: string,
  { folder, account }: { readonly folder: string; readonly account: ClusterAccount },
): Promise<void> {
  const { program, words, options } = commandOf(account, initdb, ["-D", folder, ...initdbWords]);
  const child = spawn(program, words, {
    ...options,
    env: { PATH: process.env.PATH, LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-4000);
  });
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      const lines = errors.trim().split("\n").filter(Boolean);
      const last = lines.findLast((line) => /\b(FATAL|PANIC|error): /.test(line));
      reject(new EngineDeath(last ?? lines.at(-1) ?? reason, { lastWords: lines }));
    };
    child.once("error", (error) => fail(error.message));
    child.once("close", (code, signal) => (code === 0 ? resolve() : fail(`initdb ended with ${code ?? signal}`)));
  });
}

/** What servers keep beside the cluster, such as videos, without their locks, sockets and marks of their runs, and without empty folders. */
function otherDataIn(dataDirectory: string): string[] {
  return entriesOf(dataDirectory)
    .filter((name) => existsSync(join(dataDirectory, name, "owner.lock")))
    .flatMap((server) =>
      readdirSync(join(dataDirectory, server), { withFileTypes: true })
        .filter(({ name }) => !/^(owner\.lock(-journal)?|server\.sock(\.new)?|running-\d+\.json)$/.test(name))
        .filter((entry) => !entry.isDirectory() || entriesOf(join(dataDirectory, server, entry.name)).length > 0)
        .map(({ name }) => join(server, name)),
    );
}

/** Empty for a missing folder, and for what is none. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
