/**
 * Runs a program, which prints a line for each piece of its work, in one process after another. Counts the processes that
 * crashed, by signal and V8's message. docs/decisions/0017 was measured with it:
 *
 *   node bench/count-aborts.ts --work compile-modules --count 2000 -- --wasm-tiering-budget=2000
 *   node bench/count-aborts.ts --work open-stores --count 2000 [--node PATH] [-- V8 FLAGS…]
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals: flags } = parseArgs({
  options: {
    work: { type: "string", default: "open-stores" },
    count: { type: "string", default: "2000" },
    "per-process": { type: "string", default: "100" },
    "at-once": { type: "string", default: "4" },
    node: { type: "string", default: process.execPath },
  },
  allowPositionals: true,
});
const count = Number(values.count);
const program = join(import.meta.dirname, `${values.work}.ts`);

/** How many lines the process printed, and the cause of its crash. */
function runProcess(pieces: number): Promise<{ lines: number; death: string | undefined }> {
  const child = spawn(values.node, [...flags, program, String(pieces), values["at-once"]]);
  let lines = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    lines += chunk.toString().split("\n").length - 1;
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = (errors + chunk).slice(-20_000);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) return resolve({ lines, death: undefined });
      console.error(errors);
      const words = /Check failed: .*/.exec(errors)?.[0] ?? "";
      resolve({ lines, death: `${signal ?? `exit ${code}`} ${words}`.trim() });
    });
  });
}

const deaths: Record<string, number> = {};
let done = 0;
while (done < count) {
  const { lines, death } = await runProcess(Math.min(Number(values["per-process"]), count - done));
  done += lines;
  if (death !== undefined) deaths[death] = (deaths[death] ?? 0) + 1;
  console.log(JSON.stringify({ work: values.work, node: values.node, flags, done, deaths }));
  // A runtime that cannot do the work at all would be started endlessly.
  if (death !== undefined && lines === 0) break;
}
process.exitCode = Object.keys(deaths).length > 0 ? 1 : 0;
