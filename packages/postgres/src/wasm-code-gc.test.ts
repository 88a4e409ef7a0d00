// @module-tag long
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const program = `
  const { openDatabase } = await import(${JSON.stringify(new URL("./open-database.ts", import.meta.url).href)});
  const database = await openDatabase({ dataDirectory: process.argv[1], schema: "shop", migrations: {} });
  await database.run({ name: "count", text: "select count(*) from pg_class" }, []);
  await database.close();
  console.log("opened");
`;

test("V8 does not free compiled WebAssembly of an embedded store, because that could abort the process", {
  timeout: 120_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "intermission-wasm-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // The trace is written to standard output; a small budget makes V8 recompile functions, which leaves code to be freed.
  const flags = ["--trace-wasm-code-gc", "--wasm-tiering-budget=1000000", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, folder]);
  expect(stdout).toContain("opened");
  // Node's own WebAssembly, which strips types, is collected before the store is opened, only in the main thread.
  expect(stdout.match(/outstanding isolates: (?![01]\.).*/g) ?? []).toEqual([]);
});
