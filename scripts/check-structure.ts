import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findModuleState } from "./module-state.ts";
import { findOversizedCode } from "./oversized-code.ts";
import { root } from "./processes.ts";
import { Problem } from "./say.ts";

/** Rejects if a function or an SQL statement of the product does not fit on a screen, or a module of it holds state. */
export function checkStructure(): void {
  const command = ["ls-files", "--cached", "--others", "--exclude-standard", "apps", "packages"];
  const files = execFileSync("git", command, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => /\/(?:src|public)\/.*[.](?:tsx?|js|sql)$/.test(file) && !/[.]test[.]tsx?$/.test(file))
    .filter((file) => existsSync(join(root, file)));
  const faults = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [...findOversizedCode(file, text), ...(file.endsWith(".sql") ? [] : findModuleState(file, text))];
  });
  if (faults.length === 0) return;
  throw new Problem(faults.join("\n"), "Each line above names a file, a line in it, and what to do.");
}
