import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;
/** One that nobody referred to would be collected, and its lock with it. */
const held = new Set<DatabaseSync>();

/**
 * Locks a folder for this process, or returns undefined when somebody else has it. The lock is the kernel's (fcntl, on
 * `owner.lock`), so it ends with its process however that dies, and never while it lives, however long it is stuck. Node
 * offers no file locks itself; SQLite takes one for each exclusive transaction, and none is ever written here.
 */
export function lockFolder(folder: string): { unlock(): void } | undefined {
  const path = join(folder, "owner.lock");
  // SQLite tells only that it failed, the system tells why: a read-only folder, one of another user, a full disk.
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
