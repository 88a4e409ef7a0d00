import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { lockFile } from "@intermission/postgres/file-lock";
import { StartFault } from "./start-fault.ts";

/** A data folder that this process owns until `release`. */
export interface ClaimedFolder {
  readonly outcome: "claimed";
  readonly socketPath: string;
  /** Passes queued and new connections to the handler, for example `(socket) => app.server.emit("connection", socket)`. */
  serve(onConnection: (socket: Socket) => void): void;
  release(): Promise<void>;
}

/** Linux allows 107 bytes in the address of a socket, macOS 103; the path has a suffix until the socket is ready. */
const MAX_SOCKET_PATH_LENGTH = 96;
const socketName = "server.sock";
const shortFolderName = /^intermission-\w{6}$/;

/** The socket of a data folder's server: `server.sock` inside, or the target of that link if the folder's path is too long. */
export function socketPathOf(folder: string): string {
  const inside = join(folder, socketName);
  try {
    return readlinkSync(inside);
  } catch {
    return inside;
  }
}

/** `claimDataFolder` for a server that starts. Throws a `StartFault` if another process uses the folder. */
export async function requireDataFolder(folder: string): Promise<ClaimedFolder> {
  const claim = await claimDataFolder(folder);
  if (claim.outcome === "claimed") return claim;
  throw new StartFault(`another process uses ${folder}: stop it, or choose another folder with DATA_DIR`);
}

/**
 * Claims a data folder for this process with a lock that ends with the process, and opens the operator socket in it with
 * mode 0600. Replaces the socket that a crashed process left there.
 */
export async function claimDataFolder(folder: string): Promise<ClaimedFolder | { outcome: "in-use"; folder: string }> {
  makeFolder(folder);
  const lock = lockFile(join(folder, "owner.lock"), "exclusive");
  if (lock === undefined) return { outcome: "in-use", folder };
  const waiting: Socket[] = [];
  let onConnection = (socket: Socket): void => {
    if (waiting.length < 64) waiting.push(socket);
    else socket.destroy();
  };
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    onConnection(socket);
  });
  const socketPath = await openSocket(folder, server).catch((error: unknown) => {
    lock.unlock();
    throw error;
  });
  return {
    outcome: "claimed",
    socketPath,
    serve(handler) {
      onConnection = handler;
      for (const socket of waiting.splice(0)) handler(socket);
    },
    async release() {
      removeSocket(folder);
      const closed = close(server);
      for (const socket of open) socket.destroy();
      await closed;
      lock.unlock();
    },
  };
}

/** `mkdirSync` with `recursive` reports ENOENT for a read-only file system instead of the system's own error. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) {
    // If the path is a file, it fails here, and not later at a path inside it.
    readdirSync(folder);
    return;
  }
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/** The caller must hold the lock. */
async function openSocket(folder: string, server: Server): Promise<string> {
  removeSocket(folder);
  const inside = join(folder, socketName);
  const isShort = Buffer.byteLength(inside) <= MAX_SOCKET_PATH_LENGTH;
  const socketPath = isShort ? inside : join(makeShortFolder(), socketName);
  // The socket gets its final name only after its mode is set.
  await listen(server, `${socketPath}.new`);
  chmodSync(`${socketPath}.new`, 0o600);
  renameSync(`${socketPath}.new`, socketPath);
  if (!isShort) symlinkSync(socketPath, inside);
  return socketPath;
}

/** The link in the data folder points to it, so processes with different TMPDIR find the same socket. */
function makeShortFolder(): string {
  const isShort = Buffer.byteLength(join(tmpdir(), "intermission-XXXXXX", socketName)) <= MAX_SOCKET_PATH_LENGTH;
  return mkdtempSync(join(isShort ? tmpdir() : "/tmp", "intermission-"));
}

function removeSocket(folder: string): void {
  const inside = join(folder, socketName);
  const socketPath = socketPathOf(folder);
  for (const path of [`${socketPath}.new`, socketPath, inside]) rmSync(path, { force: true });
  if (socketPath === inside || !shortFolderName.test(basename(dirname(socketPath)))) return;
  try {
    rmdirSync(dirname(socketPath));
  } catch {
    // It is already removed, or contains other files.
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
