import { existsSync, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { chooseAccount, describeAccount } from "./cluster-account.ts";
import { checkCluster, clusterFolderOf, makeCluster } from "./cluster-folder.ts";
import {
  type ClusterConnection,
  countAsUser,
  isAnswering,
  isRunning,
  lastWordsOf,
  quitServer,
  requireOwnSocket,
  type StartedServer,
  serverOf,
  socketPathOf,
  startServer,
  stopServer,
} from "./cluster-process.ts";
import type { DatabaseLogger } from "./database-store.ts";
import { type FileLock, lockFile } from "./file-lock.ts";
import { postgresPrograms } from "./postgres-programs.ts";
import { EngineDeath, faultOfDeath, StoreFault } from "./store-faults.ts";

/** A cluster that this process uses until `leave`. */
interface JoinedCluster {
  readonly connection: ClusterConnection;
  /** The last user that leaves stops the server. */
  leave(): Promise<void>;
}

interface JoinOptions {
  readonly dataDirectory: string;
  readonly mayCreate: boolean;
  readonly buffersMegabytes: number;
  readonly logger: DatabaseLogger | undefined;
  /** Called once if the server ends while this process uses it. */
  readonly onDeath: (fault: StoreFault) => void;
}

const JOIN_WITHIN_MS = 90_000;

/**
 * Joins the cluster in the data folder: connects to its server, or makes the cluster and starts it.
 *
 * Two locks order this. Each process that uses the cluster holds a shared lock on `postgres.users.lock`, so the server has
 * users exactly if that file cannot be locked exclusively. A process that joins, starts, stops or leaves the cluster holds
 * `postgres.lock` meanwhile, so these steps never overlap. A server without users is left over from a crash, and is ended.
 */
export async function joinCluster(passedOptions: JoinOptions): Promise<JoinedCluster> {
  const options = { ...passedOptions, dataDirectory: resolve(passedOptions.dataDirectory) };
  const { dataDirectory, mayCreate } = options;
  if (!mayCreate && (!existsSync(dataDirectory) || checkCluster(dataDirectory) === "missing")) {
    throw new StoreFault(
      `${dataDirectory} holds no store: start the server, which makes one, or name the right folder by DATA_DIR`,
    );
  }
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const giveUpAt = Date.now() + JOIN_WITHIN_MS;
  for (;;) {
    const joined = await whileLocked(dataDirectory, giveUpAt, () => joinOnce(options));
    if (joined !== undefined) return joined;
    if (Date.now() > giveUpAt) {
      throw new StoreFault(
        `the embedded database in ${dataDirectory} has ended, but a process still uses it: stop all servers on this folder, then start again`,
      );
    }
    await wait(50);
  }
}

/** Undefined if the server has ended while others use it: they are about to notice. */
async function joinOnce(options: JoinOptions): Promise<JoinedCluster | undefined> {
  const { dataDirectory } = options;
  const folder = clusterFolderOf(dataDirectory);
  const users = join(dataDirectory, "postgres.users.lock");
  const alone = lockFile(users, "exclusive");
  let server: StartedServer;
  if (alone === undefined) {
    const running = serverOf(folder);
    if (running === undefined || !(await isAnswering(running))) return undefined;
    requireOwnSocket(folder, running);
    server = { ...running, stopCounting: countAsUser(folder) };
  } else {
    try {
      server = await startAlone(options, folder);
    } finally {
      alone.unlock();
    }
  }
  const place = lockFile(users, "shared");
  // Only under `postgres.lock`, which this process holds, are there other locks than shared ones.
  if (place === undefined) throw new Error(`${users} is locked by a program that does not hold postgres.lock`);
  return useServer(options, { folder, server, place });
}

async function startAlone(
  { dataDirectory, buffersMegabytes, logger }: JoinOptions,
  folder: string,
): Promise<StartedServer> {
  const orphan = existsSync(folder) ? serverOf(folder) : undefined;
  if (orphan !== undefined) await stopServer(folder, orphan);
  const programs = postgresPrograms();
  const state = checkCluster(dataDirectory);
  const account = chooseAccount({ folder, dataDirectory, programs });
  try {
    if (state === "missing") await makeCluster(dataDirectory, { account, programs });
    const server = await startServer({ folder, programs, account, buffersMegabytes });
    logger?.info({ folder, pid: server.pid, account: describeAccount(account) }, "the embedded database is started");
    return server;
  } catch (error) {
    throw error instanceof EngineDeath ? faultOfDeath(folder, error) : error;
  }
}

const LOOK_EVERY_MS = 250;

function useServer(
  { dataDirectory, onDeath }: JoinOptions,
  { folder, server, place }: { readonly folder: string; readonly server: StartedServer; readonly place: FileLock },
): JoinedCluster {
  const looking = setInterval(() => {
    const fault = faultOfUse(folder, server);
    if (fault === undefined) return;
    clearInterval(looking);
    onDeath(fault);
  }, LOOK_EVERY_MS).unref();
  return {
    connection: server.connection,
    async leave() {
      clearInterval(looking);
      await whileLocked(dataDirectory, Date.now() + JOIN_WITHIN_MS, async () => {
        place.unlock();
        const alone = lockFile(join(dataDirectory, "postgres.users.lock"), "exclusive");
        try {
          if (alone !== undefined) await stopServer(folder, server);
        } finally {
          alone?.unlock();
          server.stopCounting();
        }
      });
    },
  };
}

/** Why the cluster can no longer be used: its server has ended, or its files were removed. */
function faultOfUse(folder: string, { pid, connection }: StartedServer): StoreFault | undefined {
  if (!isRunning(pid))
    return faultOfDeath(folder, new EngineDeath("the database server has ended", { lastWords: wordsIn(folder) }));
  if (!existsSync(folder)) {
    // It would go on in files without a name, and the next start would not find it.
    quitServer(pid);
    return new StoreFault(
      `${folder}, the embedded database, was removed or moved while servers used it: move it back, or restore it from a backup, then start again`,
    );
  }
  const socket = socketPathOf(connection);
  if (existsSync(socket)) return undefined;
  return new StoreFault(
    `${socket}, the socket of the embedded database, was removed: start again, which makes it anew`,
  );
}

/** The folder may be gone with its server. */
function wordsIn(folder: string): string[] {
  return statSync(folder, { throwIfNoEntry: false }) === undefined ? [] : lastWordsOf(folder);
}

/** Runs `work` while no process uses, starts or stops the cluster of a data folder. Throws a `StoreFault` if one uses it. */
export async function whileAlone<T>(dataDirectory: string, work: () => Promise<T>): Promise<T> {
  return whileLocked(dataDirectory, Date.now() + JOIN_WITHIN_MS, async () => {
    const alone = lockFile(join(dataDirectory, "postgres.users.lock"), "exclusive");
    if (alone === undefined)
      throw new StoreFault(`servers use the store in ${dataDirectory}: name another folder by DATA_DIR`);
    try {
      return await work();
    } finally {
      alone.unlock();
    }
  });
}

/** Runs `work` while this process holds the lock of the data folder's cluster. */
async function whileLocked<T>(dataDirectory: string, giveUpAt: number, work: () => Promise<T>): Promise<T> {
  const path = join(dataDirectory, "postgres.lock");
  for (let lock = lockFile(path, "exclusive"); ; lock = lockFile(path, "exclusive")) {
    if (lock !== undefined) {
      try {
        return await work();
      } finally {
        lock.unlock();
      }
    }
    if (Date.now() > giveUpAt)
      throw new StoreFault(
        `another process has been starting, stopping or restoring the database in ${dataDirectory} for 90 s: stop it, or wait for it, then start again`,
      );
    await wait(20 + Math.random() * 30);
  }
}
