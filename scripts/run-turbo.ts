import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, runCommand } from "./processes.ts";
import { Problem } from "./say.ts";

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

/** The types of all apps and packages. A package without the script would be skipped in silence. */
export async function checkTypes(): Promise<void> {
  for (const folder of ["apps", "packages"]) {
    for (const name of readdirSync(join(root, folder))) {
      const file = `${folder}/${name}/package.json`;
      const { scripts } = JSON.parse(readFileSync(join(root, file), "utf8"));
      if (scripts?.types !== undefined) continue;
      throw new Problem(`${file} has no script "types"`, 'Add "types": "tsc --noEmit --checkers 1".');
    }
  }
  await runTurbo("types", ["--filter=./apps/*", "--filter=./packages/*", "--continue", "--output-logs=errors-only"], {
    nextStep: "Each line above names a file and a position in it.",
  });
}
