import { execFileSync, spawn } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { type ClusterAccount, commandOf } from "./cluster-account.ts";
import { requireSameMajor } from "./cluster-major.ts";
import { EngineDeath, StoreFault } from "./store-faults.ts";

/** How a client reaches a running cluster. */
export interface ClusterConnection {
  /** The folder of the socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly ssl: false;
  readonly options: string;
}

/** The driver would take what is not named from PGSSLMODE and PGOPTIONS, which are for other servers. */
function connectionAt(host: string, port = PORT): ClusterConnection {
  return { host, port, user: "postgres", database: "postgres", ssl: false, options: "-c jit=off" };
}

/** A server process of a cluster, from PostgreSQL's own pid file. */
export interface ClusterServer {
  readonly pid: number;
  readonly connection: ClusterConnection;
}

const PORT = 5432;
const socketName = `.s.PGSQL.${PORT}`;
/** Linux allows 107 bytes in the address of a socket, macOS 103. */
const MAX_SOCKET_PATH = 103;
const shortFolderName = /^intermission-pg-\w{6}$/;
/** Beside the cluster's folder, all of which PostgreSQL syncs after a crash. */
const logOf = (folder: string) => `${folder}.log`;
const usersOf = (folder: string) => `${folder}.users`;
/** What a server leaves beside its cluster. */
export const traceFilesOf = (folder: string) => [logOf(folder), usersOf(folder)];
const MAX_LOG_BYTES = 1024 * 1024;

/** The running server of the cluster in `folder`, or undefined. The process may still be starting. */
export function serverOf(folder: string): ClusterServer | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  const [pid, , , port, host] = lines;
  const id = Number(pid);
  if (!Number.isSafeInteger(id) || id < 2 || !isServer(id, folder)) return undefined;
  // The line of the socket's folder is written a moment after the file is made.
  return { pid: id, connection: connectionAt(host || folder, Number(port) || PORT) };
}

/** Whether the process runs and is the server of this cluster: after a crash its number may belong to another program. */
function isServer(pid: number, folder: string): boolean {
  if (!isRunning(pid)) return false;
  const words = commandLineOf(pid);
  return words.includes(folder) && /postgres/.test(words);
}

function commandLineOf(pid: number): string {
  try {
    return existsSync("/proc/self/cmdline")
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
      : execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    // It has just ended.
    return "";
  }
}

/** A process that ended and that its parent does not collect, as in a container without an init process, is not running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return !existsSync("/proc/self/stat");
  }
}

/** A server that this process has started and uses until `stopCounting`. */
export interface StartedServer extends ClusterServer {
  stopCounting(): void;
}

interface StartOptions {
  readonly folder: string;
  readonly programs: string;
  readonly account: ClusterAccount;
  readonly buffersMegabytes: number;
  /** 60 s by default. */
  readonly startWithinMs?: number;
}

const START_WITHIN_MS = 60_000;

/**
 * Starts the server of a cluster and waits until it accepts connections. The caller holds the cluster's lock, and no server
 * runs. It has its own session, so that a Ctrl-C at a terminal does not reach it.
 */
export async function startServer(options: StartOptions): Promise<StartedServer> {
  const { folder, account, programs, startWithinMs = START_WITHIN_MS } = options;
  requireSameMajor(folder, programs);
  // Backends of a server that was killed end a moment later, and until then PostgreSQL refuses to start.
  const giveUpAt = Date.now() + startWithinMs;
  for (;;) {
    // PostgreSQL refuses to start if another process, or one that ended and is not collected, has the number that is in these files.
    for (const name of ["postmaster.pid", `${socketName}.lock`]) rmSync(join(folder, name), { force: true });
    const socketFolder = makeSocketFolder(folder, account);
    try {
      return await startOnce(options, { socketFolder, giveUpAt });
    } catch (error) {
      removeSocketFolder(folder, socketFolder);
      const isInUse = error instanceof EngineDeath && error.lastWords.some((line) => /still in use/.test(line));
      if (!isInUse || Date.now() > giveUpAt) throw error;
      await wait(100);
    }
  }
}

async function startOnce(
  options: StartOptions,
  { socketFolder, giveUpAt }: { readonly socketFolder: string; readonly giveUpAt: number },
): Promise<StartedServer> {
  const { folder, account, programs } = options;
  const settings = Object.entries(settingsOf({ ...options, socketFolder }));
  const {
    program,
    words,
    options: as,
  } = commandOf(account, join(programs, "postgres"), [
    "-D",
    folder,
    ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ]);
  const log = openLog(folder);
  const child = spawn(program, words, {
    ...as,
    detached: true,
    env: { PATH: process.env.PATH, LC_ALL: "C" },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  child.unref();
  let failure: Error | undefined;
  child.once("error", (error) => {
    failure = error;
  });
  const stopCounting = child.pid === undefined ? () => {} : watchUsers(folder, child.pid);
  const connection = connectionAt(socketFolder);
  while (failure === undefined && child.exitCode === null && child.signalCode === null) {
    if (child.pid !== undefined && (await answers(connection))) return { pid: child.pid, connection, stopCounting };
    if (Date.now() > giveUpAt) {
      child.kill("SIGQUIT");
      stopCounting();
      throw new StoreFault(`the embedded database in ${folder} did not start in time: see ${logOf(folder)}`);
    }
    await wait(20);
  }
  stopCounting();
  throw new EngineDeath(failure?.message ?? `postgres ended with ${child.exitCode ?? child.signalCode}`, {
    // On a full disk there is no room for its last words either.
    lastWords: [...lastWordsOf(folder), ...(isFull(folder) ? ["No space left on device"] : [])],
    cause: failure,
  });
}

function settingsOf({ socketFolder, buffersMegabytes }: { socketFolder: string; buffersMegabytes: number }) {
  return {
    listen_addresses: "",
    unix_socket_directories: socketFolder,
    unix_socket_permissions: "0700",
    port: PORT,
    max_connections: 60,
    // An export reads a year of weekly partitions in one transaction, which locks each of them and its indexes.
    max_locks_per_transaction: 256,
    shared_buffers: `${buffersMegabytes}MB`,
    // The files of `mmap` are in the cluster's folder: containers often have little or no /dev/shm.
    dynamic_shared_memory_type: "mmap",
    max_wal_size: "512MB",
    // While a backup keeps the log, it must not fill the disk.
    max_slot_wal_keep_size: "4GB",
    // Failed statements are not logged: their text may contain data of people.
    log_min_messages: "log",
    log_min_error_statement: "panic",
    // Nor the details of errors, which quote values of rows.
    log_error_verbosity: "terse",
    log_checkpoints: "off",
  };
}

export function socketPathOf({ host }: ClusterConnection): string {
  return join(host, socketName);
}

async function answers(connection: ClusterConnection): Promise<boolean> {
  if (!existsSync(socketPathOf(connection))) return false;
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Whether the server accepts connections. */
export function isAnswering({ pid, connection }: ClusterServer): Promise<boolean> {
  return isRunning(pid) ? answers(connection) : Promise.resolve(false);
}

/**
 * The socket is in the cluster's folder, or in a short one with the same owner and mode if its path would be too long, or has
 * what separates paths in PostgreSQL's setting and lines in its pid file.
 */
function makeSocketFolder(folder: string, account: ClusterAccount): string {
  if (Buffer.byteLength(join(folder, socketName)) <= MAX_SOCKET_PATH && !/[,"\r\n]/.test(folder)) return folder;
  const isShort = Buffer.byteLength(join(tmpdir(), "intermission-pg-XXXXXX", socketName)) <= MAX_SOCKET_PATH;
  // mkdtemp makes it with mode 0700.
  const made = mkdtempSync(join(isShort ? tmpdir() : "/tmp", "intermission-pg-"));
  if (account.kind === "other-user") chownSync(made, account.uid, account.gid);
  return made;
}

function removeSocketFolder(folder: string, socketFolder: string): void {
  if (socketFolder === folder || !shortFolderName.test(basename(socketFolder))) return;
  rmSync(socketFolder, { recursive: true, force: true });
}

/** Throws if another user could have made the folder of the socket, and so could answer there. */
export function requireOwnSocket(folder: string, { connection }: ClusterServer): void {
  const [cluster, socket] = [statSync(folder), statSync(connection.host, { throwIfNoEntry: false })];
  if (socket === undefined || (socket.uid === cluster.uid && (socket.mode & 0o077) === 0)) return;
  throw new StoreFault(
    `${connection.host}, the folder of the embedded database's socket, belongs to another user or is open to others: stop all servers on ${dirname(folder)}, remove it, and start again`,
  );
}

/**
 * Ends the server: open transactions are rolled back and all is written. If that takes too long, it is ended as in a crash,
 * which loses nothing that was acknowledged but makes the next start recover.
 */
export async function stopServer(folder: string, { pid, connection }: ClusterServer): Promise<void> {
  for (const [signal, patienceMs] of [
    ["SIGINT", 20_000],
    ["SIGQUIT", 5000],
    ["SIGKILL", 5000],
  ] as const) {
    if (!isServer(pid, folder)) break;
    send(pid, signal);
    const giveUpAt = Date.now() + patienceMs;
    while (isRunning(pid) && Date.now() < giveUpAt) await wait(10);
  }
  removeSocketFolder(folder, connection.host);
}

/** Ends the server as in a crash, without waiting for it. */
export function quitServer(pid: number): void {
  send(pid, "SIGQUIT");
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/**
 * Ends the server when all its users have been killed: each user keeps a named pipe open, and this shell reads its end when
 * the last one has gone. Users that leave in order end the server themselves. The returned function closes our end.
 */
function watchUsers(folder: string, pid: number): () => void {
  const pipe = usersOf(folder);
  rmSync(pipe, { force: true });
  execFileSync("mkfifo", ["-m", "600", pipe]);
  const stopCounting = countAsUser(folder);
  const end = openSync(pipe, "r");
  // The server writes its pid file a moment after its start.
  const script = `read -r _
    for attempt in 1 2 3 4 5; do
      kill -0 "$2" || exit
      read -r pid <"$1" && [ "$pid" = "$2" ] && kill -INT "$2" && exit
      sleep 1
    done`;
  spawn("sh", ["-c", script, "sh", join(folder, "postmaster.pid"), String(pid)], {
    cwd: "/",
    env: { PATH: process.env.PATH },
    detached: true,
    stdio: [end, "ignore", "ignore"],
  }).unref();
  closeSync(end);
  return stopCounting;
}

/** Tells the watching shell that this process uses the server, until the returned function is called. */
export function countAsUser(folder: string): () => void {
  // Open for reading and writing: for writing alone it would wait for a reader.
  const pipe = openSync(usersOf(folder), "r+");
  return () => closeSync(pipe);
}

/** The server's log of this start and the ones before; emptied when it is long. */
function openLog(folder: string): number {
  const log = openSync(logOf(folder), "a+", 0o600);
  if (fstatSync(log).size > MAX_LOG_BYTES) ftruncateSync(log);
  return log;
}

function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < 65_536;
}

/** The end of the server's log. */
export function lastWordsOf(folder: string): string[] {
  const log = openSync(logOf(folder), "r");
  try {
    const { size } = fstatSync(log);
    const bytes = Buffer.alloc(Math.min(size, 8192));
    readSync(log, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString().split("\n").filter(Boolean).slice(-40);
  } finally {
    closeSync(log);
  }
}
