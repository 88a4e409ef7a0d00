import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { childrenOf } from "./processor-time.ts";

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

/** Keeps servers on their core, and the embedded database that one has started on the database's. */
export function keepOnCores(pids: readonly number[]): void {
  if (!hasCores) return;
  for (const pid of pids) {
    pin(pid, cores.server);
    for (const child of childrenOf(pid)) if (nameOf(child) === "postgres") keepBesideDatabase(child);
  }
}

/** Keeps a process and its children, and those that it starts from now on, on the database's core. */
export function keepBesideDatabase(pid: number): void {
  if (hasCores) for (const one of [pid, ...childrenOf(pid)]) pin(one, cores.database);
}

function nameOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}

/** With all threads. */
function pin(pid: number, core: string): void {
  execFileSync("taskset", ["-apc", core, String(pid)], { stdio: "ignore" });
}

function canPin(): boolean {
  try {
    execFileSync("taskset", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
