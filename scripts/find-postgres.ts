import { startTemporaryCluster } from "../packages/testing/src/temporary-cluster.ts";
import { aptInstall } from "./find-browser.ts";
import { Problem } from "./say.ts";

export interface FoundPostgres {
  readonly url: string;
  readonly source: string;
  stop(): Promise<void>;
}

/**
 * A PostgreSQL server for tests: TEST_DATABASE_URL, or a temporary cluster with the binaries of this machine or with
 * Debian's by apt-get. `undefined` if none is available, which is an error in CI. A temporary cluster runs without fsync,
 * since no test crashes the machine.
 */
export async function findPostgres(): Promise<FoundPostgres | undefined> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, source: "TEST_DATABASE_URL", stop: async () => {} };
  const first = await startTemporaryCluster({ fsync: false });
  if ("url" in first) return { url: first.url, source: "a temporary cluster", stop: first.stop };
  let fault = "";
  try {
    await aptInstall("postgresql");
    const second = await startTemporaryCluster({ fsync: false });
    if ("url" in second)
      return { url: second.url, source: "a temporary cluster, installed by apt-get", stop: second.stop };
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
  }
  if (process.env.CI === "true") {
    throw new Problem(
      `No PostgreSQL server is available.\n  ${fault.slice(0, 1000)}`,
      "Install postgresql, or set TEST_DATABASE_URL.",
    );
  }
  return undefined;
}
