import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;
/** Keeps a reference: garbage collection of the database would release its lock. */
const held = new Set<DatabaseSync>();

/**
 * Locks a folder for this process, or returns undefined when another process has it. It is a kernel lock (fcntl, on
 * `owner.lock`), so it ends with its process, even after a crash, and never while the process runs, even if it is stuck.
 * Node has no file locks; SQLite takes one for each exclusive transaction, and this code never writes in one.
 */
export function lockFolder(folder: string): { unlock(): void } | undefined {
  const path = join(folder, "owner.lock");
  // SQLite reports only that it failed; opening the file reports why: a read-only folder, another user's, a full disk.
  closeSync(openSync(path, "a", 0o600));
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec("begin exclusive");
  } catch (error) {
    file.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return undefined;
    throw new Error(`${folder} cannot be locked`, { cause: error });
  }
  held.add(file);
  return {
    unlock() {
      held.delete(file);
      file.close();
    },
  };
}
