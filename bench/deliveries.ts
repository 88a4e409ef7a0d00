import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServerDatabase } from "../packages/postgres/src/test-database.ts";
import { freePort, runCommand, startServer } from "../scripts/processes.ts";
import type { Store } from "./bench-stack.ts";

const endpoints = 50;

export interface SendingResult {
  readonly perSecond: number;
  /** Of the sending process alone, for one webhook. */
  readonly cpuMicroseconds: number;
}

/**
 * Webhooks a second at 256 in flight to 50 endpoints that answer after `delayMs`, eight at once each: from waiting rows to
 * booked ones. The floor is undici posting the same to the same endpoints, without a database.
 */
export async function measureDeliveries(
  store: Store,
  { count, delayMs }: { count: number; delayMs: number },
): Promise<{ floor: SendingResult; ours: SendingResult }> {
  const ports = await Promise.all(Array.from({ length: endpoints }, () => freePort()));
  const shared = { PORTS: ports.join(","), COUNT: String(count), DELAY_MS: String(delayMs) };
  const sink = startServer("endpoints", "bench/sink-server.ts", shared);
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-bench-"));
  const database = store.databaseUrl === undefined ? undefined : await createServerDatabase(store.databaseUrl);
  try {
    await sink.ready;
    const send = async (env: NodeJS.ProcessEnv): Promise<SendingResult> =>
      JSON.parse(await runCommand(process.execPath, ["bench/delivery-sender.ts"], { env: { ...shared, ...env } }));
    const floor = await send({ MODE: "floor" });
    // Named also when there is none: an operator's own, in the environment, must not be measured.
    const ours = await send({ MODE: "ours", DATA_DIR: dataDirectory, DATABASE_URL: database?.url });
    return { floor, ours };
  } finally {
    await sink.stop();
    await database?.drop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}
