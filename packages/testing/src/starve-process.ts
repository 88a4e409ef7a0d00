import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where this kernel keeps control groups of memory, and the file with a group's limit, in version 2 or 1. */
const hierarchies = [
  ["/sys/fs/cgroup", "memory.max"],
  ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"],
] as const;

/**
 * Puts a process into a control group of its own with hardly any memory: what it already has stays, and the next that it asks
 * for lets the kernel kill it, as a process that has used up its limit. Undefined where no such group can be made: then
 * nothing happens.
 */
export function starveProcess(pid: number): { readonly remove: () => void } | undefined {
  for (const [top, limit] of hierarchies) {
    const group = join(top, `intermission-test-${pid}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    const remove = () => rmdirSync(group);
    try {
      if (!existsSync(join(group, limit))) throw new Error(`${group} limits no memory`);
      writeFileSync(join(group, limit), String(2 * 1024 * 1024));
      writeFileSync(join(group, "cgroup.procs"), String(pid));
      return { remove };
    } catch {
      remove();
    }
  }
  return undefined;
}
