/**
 * Three nodes of PostgreSQL under Patroni, by the files of `deploy/patroni`, below two ad services and a companion API. While
 * people request codes, follow links and watch ads, and reports are read from the replicas, the primary and its agent are killed
 * again and again, and started again; then the role is handed over by plan. With `--cut`, at the end the primary's network is cut.
 * Nothing that was acknowledged may be lost, nothing be paid twice.
 *
 *   node e2e/kill/failover.ts [--kills 5] [--cut]
 */
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { earnEvents } from "./earn-events.ts";
import {
  inOwnNamespaces,
  isInOwnNamespaces,
  missingForPatroni,
  type PatroniCluster,
  startPatroniCluster,
} from "./patroni-cluster.ts";
import { probeWrites, type WriteProbe } from "./probe-writes.ts";
import { settleRecords } from "./settle-records.ts";
import { startNodes } from "./start-nodes.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({
  options: { kills: { type: "string", default: "5" }, cut: { type: "boolean", default: false } },
});

/** Beside `ttl`: HAProxy's check, the promotion, new connections. */
const BESIDE_TTL_SECONDS = 2;
/** Most kills must meet the limit; a busy machine may delay a single one by this much. */
const BUSY_SECONDS = 15;
/** With fewer kills, as beside other tests of `npm run test:long`, each time may be of a busy machine. */
const MEASURED_KILLS = 3;
/** Connections to a node that is silent end later than those to one that refuses. */
const PARTITION_BESIDE_TTL_SECONDS = 10;
const SWITCHOVER_SECONDS = 5;
const REJOIN_WITHIN_MS = 180_000;
const EARN_EVERY_MS = 200;
const MAX_UNDER_WAY = 60;

async function primaryOf(cluster: PatroniCluster): Promise<string> {
  const leader = (await cluster.members()).find(({ role }) => role === "leader");
  if (leader === undefined) throw new Error("no node is the primary");
  return leader.name;
}

/** Kills primary and agent, waits for writes, and starts them again. Returns the seconds without writes. */
async function killPrimary(cluster: PatroniCluster, probe: WriteProbe): Promise<number> {
  const primary = await primaryOf(cluster);
  const killedAt = performance.now();
  await cluster.kill(primary);
  // A request that reached a server before may still be answered.
  const seconds = await probe.secondsUntilWrite(killedAt + 100);
  cluster.start(primary);
  const startedAt = performance.now();
  await cluster.untilWhole(REJOIN_WITHIN_MS);
  const rejoined = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`  ${primary} killed: writes back after ${seconds.toFixed(1)} s, whole again after ${rejoined} s`);
  return seconds;
}

/** Takes the primary's network away, waits for writes, and brings it back. Returns the seconds without writes. */
async function cutPrimaryOff(cluster: PatroniCluster, probe: WriteProbe): Promise<number> {
  const primary = await primaryOf(cluster);
  const cutAt = performance.now();
  cluster.cut(primary);
  const seconds = await probe.secondsUntilWrite(cutAt + 100);
  cluster.mend(primary);
  await cluster.untilWhole(REJOIN_WITHIN_MS);
  console.log(`  ${primary} cut off: writes back after ${seconds.toFixed(1)} s`);
  return seconds;
}

async function switchOver(cluster: PatroniCluster, probe: WriteProbe): Promise<number> {
  const primary = await primaryOf(cluster);
  let startedAt = performance.now();
  let answer = await cluster.switchOver(primary);
  // An etcd that was cut off may have no leader for a moment, and no switchover has begun then.
  for (let round = 0; answer.startsWith("503") && round < 30; round++) {
    await wait(1000);
    startedAt = performance.now();
    answer = await cluster.switchOver(primary);
  }
  await probe.secondsUntilWrite(performance.now());
  await cluster.untilWhole(REJOIN_WITHIN_MS);
  const seconds = probe.longestGapSeconds(startedAt);
  console.log(`  planned switchover (${answer.trim()}): no write for ${seconds.toFixed(1)} s`);
  if ((await primaryOf(cluster)) === primary) throw new Error(`${primary} is still the primary: ${answer}`);
  return seconds;
}

/** What does not hold of the times. */
function lateFaults(
  { outages, partition, switchover }: { outages: readonly number[]; partition: number | undefined; switchover: number },
  ttl: number,
): string[] {
  const limit = ttl + BESIDE_TTL_SECONDS;
  const late = outages.filter((seconds) => seconds > limit);
  const isMeasured = outages.length >= MEASURED_KILLS;
  const isLate =
    (isMeasured && late.length * 2 > outages.length) || late.some((seconds) => seconds > limit + BUSY_SECONDS);
  return [
    ...(isLate ? [`${late.length} of ${outages.length} failovers took more than ${limit} s`] : []),
    ...((partition ?? 0) > ttl + PARTITION_BESIDE_TTL_SECONDS + BUSY_SECONDS
      ? [`the partition took ${partition} s`]
      : []),
    ...(switchover > SWITCHOVER_SECONDS + (isMeasured ? 0 : BUSY_SECONDS)
      ? [`the switchover took ${switchover} s`]
      : []),
  ];
}

async function failOver(dataDirectory: string): Promise<boolean> {
  const startedAt = performance.now();
  const cluster = await startPatroniCluster();
  try {
    const nodes = await startNodes({
      dataDirectory,
      databaseUrl: cluster.databaseUrl,
      adServices: 2,
      apis: 1,
      environmentOf: (node) => (node.startsWith("ad-service") ? { REPORTS_DATABASE_URL: cluster.replicaUrl } : {}),
    });
    try {
      const earning = earnEvents(nodes);
      const probe = probeWrites(nodes);
      const load = setInterval(() => earning.underWay < MAX_UNDER_WAY && earning.begin(), EARN_EVERY_MS);
      await wait(2000);
      const outages: number[] = [];
      for (let kill = 0; kill < Number(values.kills); kill++) outages.push(await killPrimary(cluster, probe));
      const switchover = await switchOver(cluster, probe);
      const partition = values.cut ? await cutPrimaryOff(cluster, probe) : undefined;
      clearInterval(load);
      await probe.stop();
      await earning.finish();
      const settled = await settleRecords({ nodes, promises: earning.promises, followers: [], isLast: true });
      const lost = await probe.lost();
      const faults = [
        ...settled.faults,
        ...lost.map((code) => `lost: the acknowledged code ${code}`),
        ...lateFaults({ outages, partition, switchover }, cluster.ttlSeconds),
      ];
      for (const fault of faults.slice(0, 20)) console.error(`  ${fault}`);
      console.log(
        `${outages.length} failovers: ${settled.records.events.length} events and ${probe.count()} more codes, ` +
          `${settled.lost + lost.length} lost, ${settled.paidTwice} paid twice; ` +
          `${Math.round((performance.now() - startedAt) / 1000)} s, ${faults.length} faults`,
      );
      return faults.length === 0;
    } finally {
      await nodes.stop();
    }
  } finally {
    await cluster.stop();
  }
}

const missing = missingForPatroni();
if (missing !== undefined) console.log(`!!! No primary was killed under Patroni: ${missing}`);
else if (isInOwnNamespaces()) await withStore("embedded", ({ dataDirectory }) => failOver(dataDirectory));
else process.exitCode = await inOwnNamespaces(import.meta.filename, process.argv.slice(2));
