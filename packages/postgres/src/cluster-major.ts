import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { StoreFault } from "./store-faults.ts";

/** The major version of PostgreSQL that made a cluster. */
export function majorOfCluster(folder: string): number {
  return Number.parseInt(readFileSync(join(folder, "PG_VERSION"), "utf8"), 10);
}

/** The major version of the programs in a folder. */
export function majorOfPrograms(programs: string): number {
  const words = execFileSync(join(programs, "postgres"), ["--version"], { encoding: "utf8", timeout: 10_000 });
  return Number(/\(PostgreSQL\) (\d+)/.exec(words)?.[1]);
}

/** PostgreSQL opens only clusters of its own major version: another one is named before anything is started. */
export function requireSameMajor(folder: string, programs: string): void {
  const [found, needed] = [majorOfCluster(folder), majorOfPrograms(programs)];
  if (found === needed) return;
  throw new StoreFault(
    `${folder} is of PostgreSQL ${found}, and this version has the programs of PostgreSQL ${needed}; nothing was changed. ` +
      `Move it: pnpm ads upgrade-store, then pnpm api upgrade-store; or go on with a version that has PostgreSQL ${found}`,
  );
}
