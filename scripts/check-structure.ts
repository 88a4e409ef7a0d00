import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findLiteralSpreads } from "./literal-spreads.ts";
import { findModuleState } from "./module-state.ts";
import { findOversizedCode } from "./oversized-code.ts";
import { root } from "./processes.ts";
import { Problem } from "./say.ts";

const product = /^(?:apps|packages)\/.*\/(?:src|public)\//;

/**
 * Rejects if a function or an SQL statement of the product does not fit on a screen, if a module of it holds state, or if a
 * literal is spread anywhere.
 */
export function checkStructure(): void {
  const command = ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx", "*.js", "*.sql"];
  const files = execFileSync("git", command, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)));
  const faults = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const isProduct = product.test(file) && !/[.]test[.]tsx?$/.test(file);
    const isSql = file.endsWith(".sql");
    return [
      ...(isProduct ? findOversizedCode(file, text) : []),
      ...(isProduct && !isSql ? findModuleState(file, text) : []),
      ...(isSql ? [] : findLiteralSpreads(file, text)),
    ];
  });
  if (faults.length === 0) return;
  throw new Problem(faults.join("\n"), "Each line above names a file, a line in it, and what to do.");
}
