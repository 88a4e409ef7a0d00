#!/usr/bin/env node
import { runCli } from "./cli/run-cli.ts";

const abort = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => abort.abort());
process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  write: (line) => console.log(line),
  writeError: (line) => console.error(line),
  signal: abort.signal,
});
