import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, runCommand } from "./processes.ts";

/**
 * Runs a task of turbo.json. A package is skipped where neither its files nor those of the packages that it depends on have
 * changed. By pnpm, which turbo needs to run a package's scripts. Returns the output.
 */
export function runTurbo(task: string, words: readonly string[], options: { nextStep: string }): Promise<string> {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return runCommand("npx", ["--yes", "--prefer-offline", packageManager, "exec", "turbo", "run", task, ...words], {
    env: { TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    ...options,
  });
}
