// @module-tag long
import { openDatabase } from "@intermission/postgres/open-database";
import { openReadReplica } from "@intermission/postgres/read-replica";
import { metricsRegistry } from "@intermission/server/metrics";
import { askServer, startDumpableCluster, startReplica } from "@intermission/testing/copy-database";
import { findDebianPrograms } from "@intermission/testing/temporary-cluster";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { makePastPartitions } from "../src/retention/keep-partitions.ts";
import { replicaMetrics, reportsFromReplica } from "../src/statistics/report-source.ts";
import { rollUpStatistics } from "../src/statistics/roll-up-statistics.ts";
import { openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "an-operators-token-of-some-length";
const isHere = findDebianPrograms() !== undefined;
if (!isHere) console.log("!!! No report was read from a replica: PostgreSQL of Debian is missing");

async function openPair() {
  const cluster = await startDumpableCluster();
  onTestFinished(cluster.stop);
  const database = await openDatabase({
    databaseUrl: cluster.url,
    dataDirectory: "",
    schema: "ad_service",
    migrations,
  });
  onTestFinished(() => database.close());
  const follower = await startReplica(cluster);
  onTestFinished(follower.stop);
  const replica = openReadReplica({
    databaseUrl: follower.url,
    schema: "ad_service",
    primary: database,
    poolSize: 3,
    limits: { connectMs: 5000, silentMs: 2000, statementMs: 10_000 },
    logger: undefined,
    now: () => new Date(),
    maxLagSeconds: 60,
  });
  onTestFinished(() => replica.stop());
  const reports = reportsFromReplica(replica, database);
  await makePastPartitions(database, { from: new Date("2026-03-01"), to: new Date("2026-03-02") });
  const fixture = await openAppFixture(database, { operatorToken }, { reports });
  onTestFinished(() => fixture.close());
  return { cluster, database, follower, reports, fixture };
}

test.skipIf(!isHere)(
  "reports of operators and publishers come from the replica and say until when they count; without it the primary answers",
  { timeout: 180_000 },
  async () => {
    const { database, follower, reports, fixture } = await openPair();
    const { botId, token } = await fixture.newBot();
    const request = async () => {
      const text = `insert into ad_requests (bot_id, user_id, code, outcome, reason, campaign_id, occurred_at)
        values ($1, '1', '1', 'no-ad', 'no-campaigns', null, '2026-03-01T11:00Z')`;
      await database.run({ name: "", text }, [botId]);
      while ((await rollUpStatistics(database)).hasMore);
    };
    const ask = async (path: string, bearer: string) => {
      const answer = await fetch(fixture.address + path, { headers: { authorization: `Bearer ${bearer}` } });
      return { status: answer.status, body: JSON.parse(await answer.text()) };
    };
    const reportOf = async () => {
      const [operator, publisher] = await Promise.all([
        ask("/operator/v1/stats?from=2026-03-01&to=2026-03-02&by=bot", operatorToken),
        ask("/client/v1/stats?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z", token),
      ]);
      expect([operator.status, publisher.status]).toEqual([200, 200]);
      return {
        requests: [operator.body.total.requests, publisher.body.total.requests],
        counted: [operator.body.countedUntil, publisher.body.counted_until],
      };
    };
    await request();
    await expect.poll(async () => (await reportOf()).requests, { timeout: 30_000 }).toEqual([1, 1]);
    await expect.poll(() => reports.warning(), { timeout: 30_000 }).toBeUndefined();

    await askServer(follower.url, "select pg_wal_replay_pause()");
    const paused = await reportOf();
    await request();
    expect(await reportOf()).toEqual({ requests: [1, 1], counted: paused.counted });
    const status = async () => (await ask("/operator/v1/status", operatorToken)).body.reportReplica;
    await expect.poll(async () => (await status()).lagSeconds, { timeout: 30_000 }).toBeGreaterThan(2);
    expect(await status()).toEqual({
      server: new URL(follower.url).host + new URL(follower.url).pathname,
      state: "following",
      lagSeconds: expect.any(Number),
      reason: null,
    });
    const registry = metricsRegistry({ service: "ad-service", version: "test" });
    replicaMetrics(registry, reports);
    const lagInMetrics = async () =>
      Number(/^intermission_replica_lag_seconds\S* (\S+)$/m.exec(await registry.metrics())?.[1]);
    expect(await lagInMetrics()).toBeGreaterThan(2);
    await askServer(follower.url, "select pg_wal_replay_resume()");
    await expect.poll(async () => (await reportOf()).requests, { timeout: 30_000 }).toEqual([2, 2]);
    expect(Date.parse((await reportOf()).counted[0])).toBeGreaterThan(Date.parse(paused.counted[0]));

    await follower.crash();
    expect((await reportOf()).requests).toEqual([2, 2]);
    expect(await status()).toMatchObject({ state: "away", lagSeconds: null, reason: expect.any(String) });
    expect(await registry.metrics()).toMatch(/^intermission_replica_readable\S* 0$/m);
    expect(reports.warning()).toMatch(
      /^the replica of REPORTS_DATABASE_URL \(127.0.0.1:\d+\/postgres\) cannot be read/,
    );
  },
);

test.skipIf(!isHere)(
  "while the replica is away the primary answers two reports at a time, and further ones are answered 503 with a sentence",
  { timeout: 120_000 },
  async () => {
    const { follower, reports } = await openPair();
    await follower.crash();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const long = () => reports.read(() => mayEnd.then(() => "read"));
    const first = [long(), long()];
    await expect
      .poll(() => reports.read(async () => "read").catch((error: unknown) => error), { timeout: 30_000 })
      .toMatchObject({
        statusCode: 503,
        headers: { "retry-after": "5" },
        message: expect.stringMatching(
          /^the replica of reports \(\S+\) cannot be read, and the primary answers 2 reports/,
        ),
      });
    end();
    expect(await Promise.all(first)).toEqual(["read", "read"]);
    expect(await reports.read(async () => "read")).toBe("read");
  },
);
