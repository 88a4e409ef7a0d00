/** Prints as JSON by how many bytes each fault made the heap grow. Started with --expose-gc by heap-growth.test.ts. */
import { setImmediate as nextTurn } from "node:timers/promises";
import tls from "node:tls";
import { bodyFaults, headerFaults } from "./answer-faults.ts";
import { tcpFaults, tlsFaults } from "./connection-faults.ts";
import { runFault } from "./run-fault.ts";
import { statusFaults } from "./status-faults.ts";
import { testCertificate } from "./test-certificates.ts";

const REPEATS = 3;
const TIMEOUTS = { connect: 100, total: 200 };

/** Buffers live outside of V8's heap, so both are counted. */
async function bytesAfterCollection(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error("start it with --expose-gc");
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

tls.setDefaultCACertificates([...tls.getCACertificates(), testCertificate]);
const growths: Record<string, number> = {};
for (const fault of [...tcpFaults, ...tlsFaults, ...headerFaults, ...bodyFaults, ...statusFaults]) {
  // The first one compiles, loads and fills what is kept for good.
  await runFault(fault, TIMEOUTS);
  const grown: number[] = [];
  let before = await bytesAfterCollection();
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    await runFault(fault, TIMEOUTS);
    const after = await bytesAfterCollection();
    grown.push(after - before);
    before = after;
  }
  growths[fault.what] = grown.sort((one, other) => one - other)[Math.floor(REPEATS / 2)] ?? Number.NaN;
}
console.log(JSON.stringify(growths));
