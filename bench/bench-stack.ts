import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DemoStack, startDemoStack } from "../scripts/demo-stack.ts";
import { freePort, root, startServer } from "../scripts/processes.ts";

export interface Store {
  readonly name: string;
  readonly databaseUrl?: string;
}

export type BenchStack = DemoStack;

/** A whole stack whose limits per token and per user are out of the way. */
export async function benchStack(store: Store): Promise<BenchStack> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-bench-"));
  const stack = await startDemoStack({
    dataDirectory,
    ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
    databaseUrl: store.databaseUrl,
    video: join(root, "e2e/fixtures/clip-2s.mp4"),
    hasChat: false,
    cooldownSeconds: 0,
    dailyCap: 1000,
    env: { "ad-service": { TRUST_PROXY: "127.0.0.1", RATE_LIMIT_PER_TOKEN: "1000000", LOG_LEVEL: "warn" } },
  });
  const stop = async () => {
    await stack.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  };
  return { ...stack, secrets: stack.secrets, stop };
}

/** The floor of the HTTP paths; with a store, each of its answers waits for one committed row. */
export async function startFloor(store?: Store): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const dataDirectory =
    store && store.databaseUrl === undefined ? mkdtempSync(join(tmpdir(), "intermission-bench-")) : undefined;
  const removeData = () => dataDirectory !== undefined && rmSync(dataDirectory, { recursive: true, force: true });
  const server = startServer("floor", "bench/floor-server.ts", {
    PORT: String(port),
    ...(store?.databaseUrl !== undefined && { DATABASE_URL: store.databaseUrl }),
    ...(dataDirectory !== undefined && { DATA_DIR: dataDirectory }),
  });
  const stop = async () => {
    await server.stop();
    removeData();
  };
  try {
    await server.ready;
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, stop };
}
