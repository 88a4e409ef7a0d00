import { readdirSync, readFileSync } from "node:fs";

/** The value of `sysconf(_SC_CLK_TCK)` on every Linux. */
const ticksPerSecond = 100;

interface ProcessTimes {
  readonly parent: number;
  readonly own: number;
  /** Processor time of its ended children. */
  readonly children: number;
}

/** Milliseconds of processor time of these processes so far, including all threads. */
export function processorMilliseconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (timesOf(pid)?.own ?? 0), 0);
}

/** Milliseconds of processor time of a process and all its children, including ended ones. */
export function familyMilliseconds(parent: number): number {
  const family = timesOf(parent);
  if (family === undefined) return Number.NaN;
  return family.children + processorMilliseconds([parent, ...childrenOf(parent)]);
}

export function childrenOf(parent: number): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => timesOf(pid)?.parent === parent);
}

export function parentOf(pid: number): number | undefined {
  return timesOf(pid)?.parent;
}

export function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

/** Memory of a process and its children, each page divided by the number of the processes that share it. */
export function familyMegabytes(parent: number): number {
  return [parent, ...childrenOf(parent)].reduce((sum, pid) => sum + proportionalMegabytes(pid), 0);
}

/** See proc_pid_smaps_rollup(5). A process that has just ended has none. */
function proportionalMegabytes(pid: number): number {
  try {
    const [, kilobytes] = /^Pss:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
    return Number(kilobytes ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** See proc_pid_stat(5). Undefined for a missing process, and on systems without /proc. */
function timesOf(pid: number): ProcessTimes | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may contain spaces.
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [parent = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [1, 11, 12, 13, 14].map(
      (at) => fields[at],
    );
    const milliseconds = 1000 / ticksPerSecond;
    return { parent, own: (user + system) * milliseconds, children: (childUser + childSystem) * milliseconds };
  } catch {
    return undefined;
  }
}
