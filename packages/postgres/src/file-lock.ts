import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StoreFault } from "./store-faults.ts";

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
/** Keeps a reference: garbage collection of the database would release its lock. */
const held = new Set<DatabaseSync>();

export interface FileLock {
  unlock(): void;
}

const statements = {
  exclusive: ["begin exclusive"],
  // A transaction takes its lock with its first read.
  shared: ["begin", "select count(*) from sqlite_master"],
} satisfies Record<LockKind, readonly string[]>;
type LockKind = "exclusive" | "shared";

/**
 * Locks a file for this process, or returns undefined when the locks of others forbid it: an exclusive lock forbids all
 * others, a shared one only exclusive ones. They are kernel locks (fcntl), so they end with their process, even after a
 * crash, and never while the process runs, even if it is stuck. Node has no file locks; SQLite takes one for each
 * transaction, and this code never writes in one.
 */
export function lockFile(path: string, kind: LockKind): FileLock | undefined {
  // SQLite reports only that it failed; opening the file reports why: a read-only folder, another user's, a full disk.
  closeSync(openSync(path, "a", 0o600));
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    for (const statement of statements[kind]) file.exec(statement);
  } catch (error) {
    file.close();
    const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
    if (code === SQLITE_BUSY) return undefined;
    if (code === SQLITE_FULL)
      throw new StoreFault(`the disk of ${path} is full: free some space, then start again`, { cause: error });
    throw new Error(`${path} cannot be locked`, { cause: error });
  }
  held.add(file);
  return {
    unlock() {
      held.delete(file);
      file.close();
    },
  };
}
