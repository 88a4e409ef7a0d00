import { createHash, randomBytes } from "node:crypto";
import { chmodSync, closeSync, linkSync, mkdirSync, openSync, rmSync, statSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** A data folder that is ours until `release`. */
export interface ClaimedFolder {
  readonly outcome: "claimed";
  readonly socketPath: string;
  /** From now on connections are handed to it, for example `(socket) => app.server.emit("connection", socket)`. */
  serve(onConnection: (socket: Socket) => void): void;
  release(): Promise<void>;
}

/** Linux allows 107 bytes in the address of a socket, macOS 103. */
const longestSocketPath = 100;

/** Where the server of a data folder listens: `server.sock` inside, or a short name for it in the system's temporary folder. */
export function socketPathOf(folder: string): string {
  const inside = join(folder, "server.sock");
  if (Buffer.byteLength(inside) <= longestSocketPath) return inside;
  const name = createHash("sha256").update(inside).digest("hex").slice(0, 24);
  return join(tmpdir(), `intermission-${name}.sock`);
}

/**
 * Claims a data folder for this process: a socket of mode 0600 that is the operator's door and the lock in one. A socket
 * that refuses connections was left by a process that died, and is replaced.
 *
 * Of processes that start at once exactly one wins: each listens under a name of its own and then takes the shared name
 * by link(2), which fails where the name exists.
 */
export async function claimDataFolder(folder: string): Promise<ClaimedFolder | { outcome: "in-use"; folder: string }> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const socketPath = socketPathOf(folder);
  const ownPath = `${socketPath}.${randomBytes(3).toString("hex")}`;
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
  await listen(server, ownPath);
  chmodSync(ownPath, 0o600);
  const isOurs = await takeName(ownPath, socketPath);
  unlinkSync(ownPath);
  if (!isOurs) {
    await close(server);
    return { outcome: "in-use", folder };
  }
  const inode = statSync(socketPath).ino;
  return {
    outcome: "claimed",
    socketPath,
    serve(handler) {
      onConnection = handler;
      for (const socket of waiting.splice(0)) handler(socket);
    },
    async release() {
      if (inodeOf(socketPath) === inode) rmSync(socketPath, { force: true });
      const closed = close(server);
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

async function takeName(ownPath: string, socketPath: string): Promise<boolean> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (tryLink(ownPath, socketPath)) return true;
    if (await answers(socketPath)) return false;
    await removeDead(socketPath);
  }
  throw new Error(`${socketPath} can neither be taken nor answers: remove it if no server runs on this folder`);
}

/** Sockets are removed only by the holder of the removal lock, and only if they are dead while he holds it. */
async function removeDead(socketPath: string): Promise<void> {
  const lockPath = `${socketPath}.removing`;
  try {
    closeSync(openSync(lockPath, "wx", 0o600));
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
    const lock = statSync(lockPath, { throwIfNoEntry: false });
    // Held for milliseconds; an old one belongs to a process that died in them.
    if (lock && Date.now() - lock.mtimeMs > 10_000) rmSync(lockPath, { force: true });
    await wait(50);
    return;
  }
  try {
    if (!(await answers(socketPath))) rmSync(socketPath, { force: true });
  } finally {
    rmSync(lockPath, { force: true });
  }
}

function tryLink(existing: string, name: string): boolean {
  try {
    linkSync(existing, name);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.setTimeout(2000, () => settle(true));
    const settle = (isAlive: boolean) => {
      socket.destroy();
      resolve(isAlive);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", (error) => settle(!isCode(error, "ECONNREFUSED") && !isCode(error, "ENOENT")));
  });
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
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
