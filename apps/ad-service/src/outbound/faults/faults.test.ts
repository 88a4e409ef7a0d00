import tls from "node:tls";
import { beforeAll, describe, expect, test } from "vitest";
import { bodyFaults, headerFaults } from "./answer-faults.ts";
import { tcpFaults, tlsFaults } from "./connection-faults.ts";
import { runFault, shortened } from "./run-fault.ts";
import { statusFaults } from "./status-faults.ts";
import { testCertificate } from "./test-certificates.ts";

/** Less than any real timeout: what does not wait is over long before, also on a busy machine. */
const LONGEST_MS = 4500;

beforeAll(() => tls.setDefaultCACertificates([...tls.getCACertificates(), testCertificate]));

const lines = { TCP: tcpFaults, TLS: tlsFaults, headers: headerFaults, body: bodyFaults, status: statusFaults };

describe.concurrent.each(Object.entries(lines))("faults of %s end as the log says", (_line, faults) => {
  test.each(faults)("$what", async (fault) => {
    const { result, earlier, server } = await runFault(fault, shortened);
    expect(result).toMatchObject(fault.expected);
    if (fault.detail) expect(result).toMatchObject({ detail: expect.stringMatching(fault.detail) });
    if (fault.after) expect(earlier).toMatchObject({ outcome: "answered", status: 200 });
    expect(server.connections()).toBe(fault.connections ?? 1);
    if (fault.mostWritten) expect(server.written()).toBeLessThan(fault.mostWritten);
    const { totalMs } = result.timings;
    expect(totalMs).toBeLessThan(LONGEST_MS);
    if (fault.waits) expect(totalMs).toBeGreaterThanOrEqual(shortened[fault.waits]);
  });
});
