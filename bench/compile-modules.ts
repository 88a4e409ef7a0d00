/**
 * Runs generated WebAssembly in threads, like a store's engine but smaller: each thread compiles a module, calls its
 * functions until V8 has recompiled them and their import, and ends. With V8's garbage collection of compiled code this
 * aborts Node 24 once in some 400 threads (docs/decisions/0017).
 *
 *   node [V8 FLAGS…] bench/compile-modules.ts THREADS AT_ONCE
 */
import { Worker } from "node:worker_threads";

const [threads, atOnce] = process.argv.slice(2).map(Number);
if (!threads || !atOnce) throw new Error("usage: compile-modules.ts THREADS AT_ONCE");
const FUNCTIONS = 300;
const CALLS = 30;

const unsigned = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(Math.floor(value / 128))];
const list = (items: readonly number[][]) => [...unsigned(items.length), ...items.flat()];
const section = (id: number, body: readonly number[]) => [id, ...unsigned(body.length), ...body];
const name = (text: string) => list([...text].map((letter) => [letter.charCodeAt(0)]));
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

/** (param i32) (result i32): adds constants in a loop, whose count is the parameter, then calls the import. */
function body(index: number, salt: number): number[] {
  const add = times(60, (step) => [0x20, 1, 0x41, (index * 31 + step * 7 + salt) & 63, 0x6a, 0x21, 1]).flat();
  const loop = [0x03, 0x40, ...add, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b];
  const code = [1, 1, 0x7f, ...loop, 0x20, 1, 0x10, 0, 0x0b];
  return [...unsigned(code.length), ...code];
}

/** Each `salt` gives a different module, so that V8 compiles each one. */
function moduleOf(salt: number): Uint8Array {
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, 1, 0x7f, 1, 0x7f]])),
    ...section(2, list([[...name("outer"), ...name("next"), 0, 0]])),
    ...section(3, list(times(FUNCTIONS, () => [0]))),
    ...section(7, list(times(FUNCTIONS, (index) => [...name(`f${index}`), 0, ...unsigned(index + 1)]))),
    ...section(10, list(times(FUNCTIONS, (index) => body(index, salt)))),
  ]);
}

const program = `
  const { bytes, calls } = require("node:worker_threads").workerData;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { outer: { next: (value) => value + 1 } });
  for (let call = 0; call < calls; call++) for (const run of Object.values(exports)) run(50);
`;

function endOfThread(salt: number): Promise<void> {
  const worker = new Worker(program, { eval: true, workerData: { bytes: moduleOf(salt), calls: CALLS }, execArgv: [] });
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => resolve());
  });
}

let left = threads;
await Promise.all(
  times(atOnce, async () => {
    while (left > 0) {
      await endOfThread(--left);
      console.log("thread");
    }
  }),
);
