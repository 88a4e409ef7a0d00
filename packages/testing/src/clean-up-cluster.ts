import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** Stops the server of a temporary cluster, if it still runs, and removes its folder. */
export async function cleanUpCluster(folder: string): Promise<void> {
  const server = serverOf(folder);
  if (server !== undefined && isAlive(server)) {
    // Immediate shutdown, since the data are no longer needed.
    process.kill(server, "SIGQUIT");
    for (let attempt = 0; attempt < 100 && isAlive(server); attempt++) await wait(50);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** The process id of the cluster's server, from PostgreSQL's own pid file. */
export function serverOf(folder: string): number | undefined {
  return firstNumberIn(join(folder, "data/postmaster.pid"));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Undefined without such a file or without a number in it. */
export function firstNumberIn(file: string): number | undefined {
  try {
    const number = Number.parseInt(readFileSync(file, "utf8"), 10);
    return number > 1 ? number : undefined;
  } catch {
    return undefined;
  }
}

// Run as a program, it waits for the end of its input: a pipe from the process that started the cluster, which the kernel
// closes however that process ends.
const [, program, folder] = process.argv;
if (program === import.meta.filename && folder !== undefined) {
  process.stdin.resume().once("close", () => cleanUpCluster(folder));
}
