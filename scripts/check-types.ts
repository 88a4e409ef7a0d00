import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.ts";
import { runTurbo } from "./run-turbo.ts";
import { Problem } from "./say.ts";
import { findUndeclaredInputs } from "./turbo-inputs.ts";

/** The types of all apps and packages. A package without the script, or with an input that turbo does not know, is a fault. */
export async function checkTypes(): Promise<void> {
  const folders = ["apps", "packages"].flatMap((top) => readdirSync(join(root, top)).map((name) => `${top}/${name}`));
  for (const folder of folders) {
    if (manifestOf(folder).scripts?.types !== undefined) continue;
    throw new Problem(`${folder}/package.json has no script "types"`, 'Add "types": "tsc --noEmit --checkers 1".');
  }
  const undeclared = undeclaredInputs();
  if (undeclared.length > 0)
    throw new Problem(undeclared.join("\n"), "Else turbo skips the package after a change there.");
  await runTurbo("types", ["--filter=./apps/*", "--filter=./packages/*", "--continue", "--output-logs=errors-only"], {
    nextStep: "Each line above names a file and a position in it.",
  });
}

function manifestOf(folder: string): { name: string; scripts?: Record<string, string> } {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}

function undeclaredInputs(): string[] {
  const { tasks } = JSON.parse(readFileSync(join(root, "turbo.json"), "utf8").replace(/^\s*\/\/.*$/gm, ""));
  const inputsOf = (folder: string) => {
    const inputs: string[] = tasks[`${manifestOf(folder).name}#types`]?.inputs ?? [];
    return inputs.flatMap((input) => /^\$TURBO_ROOT\$\/(.+)\/\*\*$/.exec(input)?.[1] ?? []);
  };
  // The root's own configuration compiles it.
  const isOfRoot = (file: string) => file === "packages/publisher/src/companion-router.ts";
  return execFileSync("git", ["ls-files", "apps", "packages"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => /[.]tsx?$/.test(file) && !isOfRoot(file) && existsSync(join(root, file)))
    .flatMap((file) => findUndeclaredInputs(file, readFileSync(join(root, file), "utf8"), inputsOf));
}
