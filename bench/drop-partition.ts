/**
 * `node bench/drop-partition.ts`: drops a week of milestones while rows are stored and summed, and prints how long that took
 * before, during and after it, and what it waited for. Fails if a statement failed, or waited for the lock of a table.
 *
 *   node bench/drop-partition.ts [--rows 10000000] [--writers 8] [--seconds 10]
 */
import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { dropExpired, makeUpcomingPartitions } from "../apps/ad-service/src/retention/keep-partitions.ts";
import { keptKinds, partitionedTables, type Retention } from "../apps/ad-service/src/retention/kept-rows.ts";
import { rollUpStatistics } from "../apps/ad-service/src/statistics/roll-up-statistics.ts";
import { openDatabase, statement } from "../packages/postgres/src/open-database.ts";
import { makePartitions } from "../packages/postgres/src/partitions.ts";
import { createServerDatabase } from "../packages/testing/src/test-server.ts";
import { findPostgres } from "../scripts/find-postgres.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "10000000" },
    writers: { type: "string", default: "8" },
    seconds: { type: "string", default: "10" },
  },
});
const [rows, writers, seconds] = [Number(values.rows), Number(values.writers), Number(values.seconds)];
const schema = "ad_service";
const DAY_MS = 86_400_000;
const now = new Date();
const old = new Date(now.getTime() - 60 * DAY_MS);

const postgres = await findPostgres({ fsync: true });
const server = await createServerDatabase(postgres.url);
const database = await openDatabase({
  databaseUrl: server.url,
  dataDirectory: "",
  schema,
  migrations,
  poolSize: writers + 2,
  limits: { statementMs: 3_600_000, silentMs: 3_600_000 },
});

const fill = statement<never>(
  "bench.fill-milestones",
  `insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, occurred_at)
   select '7000000001', 'cmp_1', 'cre_1', 'start', $1 from generate_series(1, $2::integer)`,
);
const markSummed = statement<never>(
  "bench.mark-summed",
  "update stats_progress set xid = pg_snapshot_xmax(pg_current_snapshot())::text::xid8",
);
const write = statement<never>(
  "bench.write",
  `with requested as (
     insert into ad_requests (bot_id, user_id, code, outcome, occurred_at) values ('7000000001', '1', 'code', 'filled', $1)
   )
   insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, occurred_at)
   select '7000000001', 'cmp_1', 'cre_1', milestone, $1 from unnest('{start,midpoint,complete}'::text[]) as milestone`,
);
/** What the sessions that write and sum wait for now: on a busy machine mostly for a processor, which has no name here. */
const waiting = statement<{ event: string; count: number }>(
  "bench.waiting",
  `select coalesce(wait_event_type || ' ' || wait_event, 'running') as event, count(*)::integer as count from pg_stat_activity
   where datname = current_database() and state = 'active' and pid <> pg_backend_pid() and query !~ '^(alter|drop) table' group by 1`,
);
const LOCK_OF_TABLE = "Lock relation";

interface Phase {
  readonly name: string;
  readonly writes: number[];
  readonly sums: number[];
  readonly waits: Map<string, number>;
}

const newPhase = (name: string): Phase => ({ name, writes: [], sums: [], waits: new Map() });
let phase = newPhase("warm-up");
let isOver = false;
const faults: unknown[] = [];

async function keepOn(kind: "writes" | "sums", work: () => Promise<unknown>, pauseMs: number): Promise<void> {
  while (!isOver) {
    const beganIn = phase;
    const began = performance.now();
    await work().catch((error: unknown) => faults.push(error));
    beganIn[kind].push(performance.now() - began);
    await wait(pauseMs);
  }
}

async function look(): Promise<void> {
  while (!isOver) {
    const { waits } = phase;
    for (const { event, count } of await database.run(waiting, [])) waits.set(event, (waits.get(event) ?? 0) + count);
    await wait(5);
  }
}

function enter(name: string): Phase {
  phase = newPhase(name);
  return phase;
}

function print({ name, writes, sums, waits }: Phase): void {
  for (const [kind, milliseconds] of Object.entries({ writes, sums })) {
    const sorted = milliseconds.toSorted((a, b) => a - b);
    const at = (share: number) =>
      (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1);
    const figures = `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
    console.log(`${name.padEnd(8)}${kind.padEnd(8)}${String(sorted.length).padStart(7)}, ${figures}`);
  }
  const seen = [...waits].toSorted(([, a], [, b]) => b - a).slice(0, 5);
  console.log(`${name.padEnd(8)}samples ${seen.map(([event, count]) => `${event} ${count}`).join(", ")}`);
}

try {
  const week = { fromMs: old.getTime(), toMs: old.getTime() + 1 };
  await database.withoutTimeout((client) => makePartitions(client, { schema, tables: partitionedTables, ...week }));
  await makeUpcomingPartitions(database, now);
  for (let made = 0; made < rows; made += 500_000) await database.run(fill, [old, Math.min(500_000, rows - made)]);
  await database.run(markSummed, []);
  await database.run({ name: "", text: "checkpoint" }, []);
  const running = [
    ...Array.from({ length: writers }, () => keepOn("writes", () => database.run(write, [new Date()]), 5)),
    keepOn("sums", () => rollUpStatistics(database), 100),
    look(),
  ];
  await wait(2000);
  const before = enter("before");
  await wait(seconds * 1000);
  const during = enter("during");
  const retention = Object.fromEntries(keptKinds.map((kind) => [kind, 30])) as Retention;
  const began = performance.now();
  const { dropped, busy, needed } = await dropExpired(database, { retention, now });
  const tookMs = performance.now() - began;
  const after = enter("after");
  await wait(seconds * 1000);
  isOver = true;
  await Promise.all(running);
  console.log(`load ${loadavg()[0]?.toFixed(1)}, ${rows} rows in the week, ${writers} writers`);
  console.log(
    `${dropped.length} partitions were dropped in ${tookMs.toFixed(0)} ms; busy ${busy.length}, needed ${needed.length}`,
  );
  const phases = [before, during, after];
  for (const one of phases) print(one);
  if (faults.length > 0) console.error(`${faults.length} statements failed:`, faults[0]);
  const hasWaited = phases.some(({ waits }) => waits.has(LOCK_OF_TABLE));
  if (hasWaited) console.error("a statement waited for the lock of a table");
  process.exitCode = faults.length + busy.length + needed.length > 0 || hasWaited ? 1 : 0;
} finally {
  isOver = true;
  await database.close();
  await server.drop();
  await postgres.stop();
}
