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
import { lockFolder } from "./lock-folder.ts";

/** A data folder that is ours until `release`. */
export interface ClaimedFolder {
  readonly outcome: "claimed";
  readonly socketPath: string;
  /** From now on connections are handed to it, for example `(socket) => app.server.emit("connection", socket)`. */
  serve(onConnection: (socket: Socket) => void): void;
  release(): Promise<void>;
}

/** Linux allows 107 bytes in the address of a socket, macOS 103; a suffix is needed while it is made. */
const longestSocketPath = 96;
const socketName = "server.sock";
const shortFolderName = /^intermission-\w{6}$/;

/** Where the server of a data folder listens: `server.sock` inside, or where that points, if the folder's own path is too long. */
export function socketPathOf(folder: string): string {
  const inside = join(folder, socketName);
  try {
    return readlinkSync(inside);
  } catch {
    return inside;
  }
}

/**
 * Claims a data folder for this process by a lock that ends with it, and opens the operator socket in it of mode
 * 0600. What a process that died left there is replaced.
 */
export async function claimDataFolder(folder: string): Promise<ClaimedFolder | { outcome: "in-use"; folder: string }> {
  makeFolder(folder);
  const lock = lockFolder(folder);
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

/** Node's own recursive way says ENOENT of a read-only file system, whatever the system said. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) {
    // A file says so here, and not when something is looked for inside.
    readdirSync(folder);
    return;
  }
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/** Only for the holder of the lock. */
async function openSocket(folder: string, server: Server): Promise<string> {
  removeSocket(folder);
  const inside = join(folder, socketName);
  const isShort = Buffer.byteLength(inside) <= longestSocketPath;
  const socketPath = isShort ? inside : join(makeShortFolder(), socketName);
  // Nobody finds it before its mode is right.
  await listen(server, `${socketPath}.new`);
  chmodSync(`${socketPath}.new`, 0o600);
  renameSync(`${socketPath}.new`, socketPath);
  if (!isShort) symlinkSync(socketPath, inside);
  return socketPath;
}

/** The link in the data folder tells where it is: two processes need not agree about TMPDIR. */
function makeShortFolder(): string {
  const isShort = Buffer.byteLength(join(tmpdir(), "intermission-XXXXXX", socketName)) <= longestSocketPath;
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
    // It is gone, or not ours alone.
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
