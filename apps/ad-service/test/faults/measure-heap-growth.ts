/**
 * Prints as JSON by how many bytes each fault made the heap grow. Started with --expose-gc by heap-growth.test.ts; the
 * argument is the growth that it allows.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import tls from "node:tls";
import { bodyFaults, headerFaults } from "./answer-faults.ts";
import { tcpFaults, tlsFaults } from "./connection-faults.ts";
import { type FaultRun, runFault } from "./run-fault.ts";
import { statusFaults } from "./status-faults.ts";
import { testCertificate } from "./test-certificates.ts";

const REPEATS = 3;
const MAX_BYTES = Number(process.argv[2]);
const STEADY_BYTES = 64 * 1024;
const MAX_TURNS = 50;
const TIMEOUTS = { connect: 100, total: 200 };

/** Buffers are outside of V8's heap, so both are counted. */
function bytesNow(): number {
  if (globalThis.gc === undefined) throw new Error("start it with --expose-gc");
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Destroyed sockets release their buffers some turns later: counts once the number is stable. */
async function bytesAfterCollection({ server }: FaultRun): Promise<number> {
  while (server.open() > 0) await nextTurn();
  let last = bytesNow();
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    await nextTurn();
    const bytes = bytesNow();
    if (Math.abs(bytes - last) < STEADY_BYTES) return bytes;
    last = bytes;
  }
  return last;
}

tls.setDefaultCACertificates([...tls.getCACertificates(), testCertificate]);
// They differ only in a number, and each costs eight collections.
const oneOfEachClass = statusFaults.filter(({ what }) => /^[1-7]00|^099|Retry-After of 1/.test(what));
const growths: Record<string, number> = {};
for (const fault of [...tcpFaults, ...tlsFaults, ...headerFaults, ...bodyFaults, ...oneOfEachClass]) {
  // The first run compiles, loads and fills permanent caches.
  let before = await bytesAfterCollection(await runFault(fault, TIMEOUTS));
  const grown: number[] = [];
  // The median of three is below a limit if two of them are: mostly the third need not run.
  while (grown.length < REPEATS && grown.filter((bytes) => bytes < MAX_BYTES).length < 2) {
    const after = await bytesAfterCollection(await runFault(fault, TIMEOUTS));
    grown.push(after - before);
    before = after;
  }
  growths[fault.what] = grown.sort((one, other) => one - other)[1] ?? Number.NaN;
}
console.log(JSON.stringify(growths));
