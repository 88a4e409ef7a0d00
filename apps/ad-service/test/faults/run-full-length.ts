/**
 * The faults whose subject is waiting, with the real timeouts, in parallel: 16 s in all. Part of `pnpm test:long`.
 * node apps/ad-service/test/faults/run-full-length.ts
 */
import assert from "node:assert/strict";
import tls from "node:tls";
import { bodyFaults, headerFaults } from "./answer-faults.ts";
import { tcpFaults, tlsFaults } from "./connection-faults.ts";
import { type Behaviour, dripping } from "./misbehaving-server.ts";
import { answered, type Fault, fault, runFault, sent, unsent } from "./run-fault.ts";
import { testCertificate } from "./test-certificates.ts";

const LIMIT_MS = { connect: 5000, total: 15_000 };
/** Beside other tests of the long set, a timer may be late by this much. */
const MAX_LATE_MS = 5000;
const OK = "HTTP/1.1 200 OK\r\n";

const answeringAfter =
  (milliseconds: number): Behaviour =>
  (socket) =>
    socket.once("data", () => setTimeout(() => socket.write(`${OK}content-length: 2\r\n\r\nok`), milliseconds));

const faults: Fault[] = [
  fault("an answer after 11 s", answeringAfter(11_000), answered(200, "ok")),
  fault("an answer after 19 s", answeringAfter(19_000), sent("timeout-total"), { waits: "total" }),
  fault("a byte of the body each 300 ms", dripping(`${OK}\r\n`, "x", { everyMs: 300 }), answered(200), {
    waits: "total",
  }),
  fault("a byte of the headers each 300 ms", dripping(OK, "x", { everyMs: 300 }), sent("timeout-total"), {
    waits: "total",
  }),
  fault("a resolver that never answers", () => {}, unsent("timeout-connect"), {
    waits: "connect",
    connections: 0,
    settings: { lookup: () => new Promise(() => {}) },
  }),
  ...[...tcpFaults, ...tlsFaults, ...headerFaults, ...bodyFaults].filter(({ waits }) => waits !== undefined),
];

async function prove(fault: Fault): Promise<string> {
  const { result, server } = await runFault(fault);
  const { totalMs } = result.timings;
  assert.partialDeepStrictEqual(result, fault.expected);
  assert.equal(server.connections(), fault.connections ?? 1);
  if (fault.waits) assert.ok(totalMs >= LIMIT_MS[fault.waits], `over after ${totalMs} ms, too early`);
  const maxMs = LIMIT_MS[fault.waits ?? "total"] + MAX_LATE_MS;
  assert.ok(totalMs <= maxMs, `over after ${totalMs} ms, later than ${maxMs}`);
  const outcome = result.outcome === "answered" ? result.status : result.errorClass;
  return `${fault.what}: ${outcome} after ${(totalMs / 1000).toFixed(2)} s`;
}

tls.setDefaultCACertificates([...tls.getCACertificates(), testCertificate]);
const proofs = await Promise.allSettled(faults.map(prove));
for (const [index, proof] of proofs.entries()) {
  if (proof.status === "fulfilled") console.log(`  ✓ ${proof.value}`);
  else console.error(`  ✗ ${faults[index]?.what}:`, proof.reason);
}
if (proofs.some(({ status }) => status === "rejected")) process.exitCode = 1;
