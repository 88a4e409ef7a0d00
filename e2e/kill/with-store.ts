import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTemporaryCluster, type TemporaryCluster } from "../../packages/testing/src/temporary-cluster.ts";
import { explain, Problem } from "../../scripts/say.ts";

export interface Store {
  readonly dataDirectory: string;
  /** Both undefined on the embedded store. */
  readonly databaseUrl: string | undefined;
  readonly cluster: TemporaryCluster | undefined;
}

/** Gives a kill script a folder and, for "postgres", its own server that it may crash. Deletes the folder after success. */
export async function withStore(store: string, prove: (store: Store) => Promise<boolean>): Promise<void> {
  // An orderly exit runs the exit handlers that stop child processes.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-kill-"));
  let cluster: TemporaryCluster | undefined;
  try {
    if (store === "postgres") cluster = await startTemporaryCluster();
    else if (store !== "embedded") throw new Problem(`Unknown store ${store}.`, "Use --store embedded or postgres.");
    const isProven = await prove({ dataDirectory, databaseUrl: cluster?.url, cluster });
    if (isProven) rmSync(dataDirectory, { recursive: true, force: true });
    else console.error(`The servers' logs are in ${dataDirectory}`);
    process.exitCode = isProven ? 0 : 1;
  } catch (error) {
    explain(error);
  } finally {
    await cluster?.stop();
  }
}
