import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findLiteralSpreads } from "./literal-spreads.ts";
import { findModuleState } from "./module-state.ts";
import { findOversizedCode } from "./oversized-code.ts";
import { root } from "./processes.ts";
import { repeatedLists, wordListsOf } from "./repeated-lists.ts";
import { Problem } from "./say.ts";
import { findScreenTexts } from "./screen-texts.ts";

const product = /^(?:apps|packages)\/.*\/(?:src|public)\//;

/** The screens that people use, without the one that shows designers all states of the player. */
const screens = /^apps\/(?:console|miniapp)\/src\/(?!gallery\/|.*[.]test[.]).*[.]tsx$/;

/** Sources that may import one another's lists. What publishers install names no package of the workspace. */
const listing =
  /^(?:apps\/(?:ad-service|api|console|miniapp)|packages\/(?:ad-core|operator-api|postgres|server))\/src\/(?!.*[.]test[.]).*[.]tsx?$/;

/** Two words, such as `from` and `to`, are often the same by chance. */
const MIN_WORDS = 3;

const textOf = (file: string) => readFileSync(join(root, file), "utf8");

/**
 * Rejects if a function or an SQL statement of the product does not fit on a screen, if a module of it holds state, if it lists the
 * words of a closed list a second time, if a literal is spread anywhere, or if a text of a screen is no word of a catalog.
 */
export function checkStructure(): void {
  const command = ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx", "*.js", "*.sql"];
  const files = execFileSync("git", command, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)));
  const faults = files.flatMap((file) => {
    const text = textOf(file);
    const isProduct = product.test(file) && !/[.]test[.]tsx?$/.test(file);
    const isSql = file.endsWith(".sql");
    return [
      ...(isProduct ? findOversizedCode(file, text) : []),
      ...(isProduct && !isSql ? findModuleState(file, text) : []),
      ...(isSql ? [] : findLiteralSpreads(file, text)),
      ...(screens.test(file) ? findScreenTexts(file, text) : []),
    ];
  });
  const lists = files.filter((file) => listing.test(file)).flatMap((file) => wordListsOf(file, textOf(file)));
  faults.push(...repeatedLists(lists.filter(({ words }) => words.length >= MIN_WORDS)));
  if (faults.length === 0) return;
  throw new Problem(faults.join("\n"), "Each line above names a file, a line in it, and what to do.");
}
