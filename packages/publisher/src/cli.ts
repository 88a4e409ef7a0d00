#!/usr/bin/env node
import { runCli } from "./cli/run-cli.ts";

const abort = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => abort.abort());
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader of the output has closed it, as in `listen | head`.
  if (error.code !== "EPIPE" && process.exitCode !== 1) {
    console.error(`the output cannot be written: ${error.message}`);
    process.exitCode = 1;
  }
  abort.abort();
});
const code = await runCli(process.argv.slice(2), {
  env: process.env,
  write: (line) => console.log(line),
  writeError: (line) => console.error(line),
  signal: abort.signal,
});
if (code !== 0) process.exitCode = code;
