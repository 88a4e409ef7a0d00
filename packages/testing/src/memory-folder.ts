import { accessSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "./clean-up-cluster.ts";

/** The folder in memory that Linux shares between processes. */
export const SHARED_MEMORY = "/dev/shm";

const ENOUGH_BYTES = 6 * 2 ** 30;

/**
 * A folder in memory for the data of tests, which need not survive a crash of the machine: the tests of vitest take a quarter
 * less time there. Undefined if this system has none, or less than 6 GiB of it, as in most containers.
 */
export function memoryFolder(): string | undefined {
  try {
    accessSync(SHARED_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    const isEnough = Math.min(bavail * bsize, process.availableMemory()) >= ENOUGH_BYTES;
    return isEnough ? SHARED_MEMORY : undefined;
  } catch {
    return undefined;
  }
}

const prefix = "intermission-run-";

/** Makes a folder for all temporary files of this process and its children. Removes those of processes that were killed. */
export function openTemporaryFolder(): { readonly path: string; remove(): void } {
  const root = memoryFolder() ?? tmpdir();
  for (const name of readdirSync(root).filter((one) => one.startsWith(prefix)))
    if (!isAlive(Number.parseInt(name.slice(prefix.length), 10)))
      rmSync(join(root, name), { recursive: true, force: true });
  // Process ids come again, in a container with each start: the name must not depend on them alone.
  const path = mkdtempSync(join(root, `${prefix}${process.pid}-`));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
