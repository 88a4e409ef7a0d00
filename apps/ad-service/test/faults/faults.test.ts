// @module-tag long
import tls from "node:tls";
import { beforeAll, describe, expect, test } from "vitest";
import { bodyFaults, headerFaults } from "./answer-faults.ts";
import { tcpFaults, tlsFaults } from "./connection-faults.ts";
import { type Fault, runFault, shortened } from "./run-fault.ts";
import { statusFaults } from "./status-faults.ts";
import { testCertificate } from "./test-certificates.ts";

/** Below every real timeout: a fault without waiting ends long before, also on a busy machine. */
const MAX_MS = 4500;

const lines = { TCP: tcpFaults, TLS: tlsFaults, headers: headerFaults, body: bodyFaults, status: statusFaults };
const rows = Object.entries(lines).flatMap(([line, faults]) => faults.map((fault) => ({ line, ...fault })));

async function expectFault(fault: Fault): Promise<void> {
  const { result, earlier, server } = await runFault(fault, shortened);
  expect(result).toMatchObject(fault.expected);
  if (fault.detail) expect(result).toMatchObject({ detail: expect.stringMatching(fault.detail) });
  if (fault.after) expect(earlier).toMatchObject({ outcome: "answered", status: 200 });
  expect(server.connections()).toBe(fault.connections ?? 1);
  if (fault.mostWritten) expect(server.written()).toBeLessThan(fault.mostWritten);
  const { totalMs } = result.timings;
  expect(totalMs).toBeLessThan(MAX_MS);
  if (fault.waits) expect(totalMs).toBeGreaterThanOrEqual(shortened[fault.waits]);
}

beforeAll(() => tls.setDefaultCACertificates([...tls.getCACertificates(), testCertificate]));

describe("a fault whose subject is waiting runs into the right timeout", () => {
  test.concurrent.each(rows.filter(({ waits }) => waits))("$line: $what", expectFault);
});

// Not in parallel with others: floods keep a processor busy, and short timeouts would expire.
describe("a fault without waiting ends immediately, with the expected result", () => {
  test.concurrent.each(rows.filter(({ waits }) => !waits))("$line: $what", expectFault);
});
