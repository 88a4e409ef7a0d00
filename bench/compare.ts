/**
 * `pnpm bench:compare`: the four main paths (first clicks, receipts, closes, webhooks) against the last release, in the same
 * rounds of one run. Its options are those of `pnpm bench`.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../scripts/processes.ts";

/** Compared with while nothing is released: the commit before decisions moved to TypeScript and tables to partitions. */
const COMMIT_WITHOUT_RELEASE = "9c07292f";

function lastRelease(): string | undefined {
  const { status, stdout } = spawnSync("git", ["describe", "--tags", "--abbrev=0"], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function isKnown(revision: string): boolean {
  return spawnSync("git", ["cat-file", "-e", `${revision}^{commit}`], { cwd: root, stdio: "ignore" }).status === 0;
}

const baseline = lastRelease() ?? COMMIT_WITHOUT_RELEASE;
if (!isKnown(baseline)) {
  console.error(`This clone does not have ${baseline}, which is compared with. Fetch it: git fetch --unshallow --tags`);
  process.exit(1);
}
const options = [
  "--only",
  "click,receipt,close,deliveries",
  "--store",
  "postgres-socket",
  "--rounds",
  "5",
  "--count",
  "8000",
];
const words = [join(root, "bench/run.ts"), ...options, "--baseline", baseline, ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
