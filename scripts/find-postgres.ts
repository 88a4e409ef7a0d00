import { startTemporaryCluster } from "../packages/testing/src/temporary-cluster.ts";

export interface FoundPostgres {
  readonly url: string;
  readonly source: string;
  stop(): Promise<void>;
}

/**
 * A PostgreSQL server: TEST_DATABASE_URL, or a temporary cluster. By default that runs without fsync, since the tests on it do
 * not crash the machine; a measurement needs it.
 */
export async function findPostgres({ fsync = false } = {}): Promise<FoundPostgres> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, source: "TEST_DATABASE_URL", stop: async () => {} };
  const cluster = await startTemporaryCluster({ fsync });
  return { url: cluster.url, source: "a temporary cluster", stop: cluster.stop };
}
