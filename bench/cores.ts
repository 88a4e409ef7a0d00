import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/**
 * The load generator and the server have one core, and the database has another, as on a
 * machine of its own. Left alone, the kernel moves them to and fro: the same path was then up to twice as fast in one round
 * as in the next.
 */
const cores = { server: "0", database: "1" };

/** Whether processes can be kept on cores: on Linux with two or more. */
export const hasCores = availableParallelism() > 1 && canPin();

/** A command that runs another on the server's core. */
export function onServerCore(command: string, words: readonly string[]): [command: string, words: readonly string[]] {
  return hasCores ? ["taskset", ["-c", cores.server, command, ...words]] : [command, words];
}

/** Keeps the threads of servers on their cores. Threads and processes that they start later inherit the core. */
export function keepOnCores(pids: readonly number[]): void {
  if (!hasCores) return;
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
      // The name of Node's worker threads.
      pin(thread, name === "WorkerThread" ? cores.database : cores.server);
    }
  }
}

/** Keeps a process, and those that it starts from now on, on the database's core. */
export function keepBesideDatabase(pid: number): void {
  if (hasCores) execFileSync("taskset", ["-apc", cores.database, String(pid)], { stdio: "ignore" });
}

function pin(thread: string, core: string): void {
  execFileSync("taskset", ["-pc", core, thread], { stdio: "ignore" });
}

function canPin(): boolean {
  try {
    execFileSync("taskset", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
