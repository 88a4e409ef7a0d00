/** Called by `./pnpm`: runs pnpm in the version of package.json, on the Node that set-up.mjs installed. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { root } from "./processes.ts";

const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// The version is exact, so npx need not ask the registry for it again: where that cannot be reached, it asks for 70 s.
const child = spawn("npx", ["--yes", "--prefer-offline", packageManager, ...process.argv.slice(2)], {
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`pnpm could not be started by npx: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128 + constants.signals[signal])));
