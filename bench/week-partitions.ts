/**
 * `node bench/week-partitions.ts`: what partitions by week cost a first click. Two whole stacks of these sources run on one
 * PostgreSQL; in the database of the second each table that is partitioned by range is replaced by an ordinary one with the same
 * columns, keys and indexes. Rounds alternate; prints the medians, for one click.
 *
 *   node bench/week-partitions.ts [--rounds 5] [--count 8000]
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { stackTarget, type Target } from "./bench-stack.ts";
import { measureClicks } from "./clicks.ts";
import { keepOnCores } from "./cores.ts";
import { medianOf } from "./load.ts";
import { newMeter } from "./meter.ts";
import { openPostgresFigures } from "./postgres-figures.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, count: { type: "string", default: "8000" } },
});

const mergePartitions = `do $$
  declare parted record;
  begin
    for parted in select oid::regclass::text as name, relname from pg_class join pg_partitioned_table on partrelid = oid
      where relnamespace = 'ad_service'::regnamespace and partstrat = 'r'
    loop
      begin
        execute format('create table ad_service.whole (like %s including all)', parted.name);
        execute format('insert into ad_service.whole select * from %s', parted.name);
        execute format('drop table %s', parted.name);
        execute format('alter table ad_service.whole rename to %I', parted.relname);
      exception when dependent_objects_still_exist then
        -- Of views, by a function. First clicks have none.
        raise notice '% stays', parted.name;
      end;
    end loop;
  end $$`;

const server = await findPostgres({ fsync: true });
const figures = await openPostgresFigures(server.url);
figures.keepOnCore();
const cleanUps: (() => Promise<void>)[] = [];
try {
  const targets = { partitions: await stackWith(), "one table": await stackWith(mergePartitions) };
  const taken = Object.keys(targets).map((name) => ({ name, node: [] as number[], postgres: [] as number[] }));
  // The first round warms up.
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const [at, target] of Object.values(targets).entries()) {
      const meter = newMeter(target, figures);
      await measureClicks(target, Number(values.count), meter.measure);
      const click = meter.taken.get("click");
      if (click === undefined) throw new Error("no click was measured");
      if (round > 0) taken[at]?.node.push((click.nodeMilliseconds * 1000) / click.answered);
      if (round > 0) taken[at]?.postgres.push((click.postgresMilliseconds * 1000) / click.answered);
    }
  }
  console.log(`Load of this machine: ${loadavg()[0]?.toFixed(1)}. Medians of ${values.rounds} rounds, for one click:`);
  for (const { name, node, postgres } of taken)
    console.log(`${name}: Node ${medianOf(node).toFixed(0)} µs, PostgreSQL ${medianOf(postgres).toFixed(0)} µs`);
} finally {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  await figures.close();
  await server.stop();
}

async function stackWith(change?: string): Promise<Target> {
  const { url, drop } = await createServerDatabase(server.url);
  cleanUps.push(drop);
  const target = await stackTarget("stack", { name: "stack", databaseUrl: await figures.socketUrlOf(url) }, {});
  cleanUps.push(target.stop);
  keepOnCores(target.pids);
  if (change !== undefined) {
    const options = { databaseUrl: url, dataDirectory: "", schema: "bench_partitions", migrations: {}, poolSize: 1 };
    const database = await openDatabase(options);
    await database.run({ name: "", text: change }, []);
    await database.close();
  }
  return target;
}
