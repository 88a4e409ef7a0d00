/**
 * `node bench/hash-partitions.ts`: what a look-up and an insert of a code cost in one table, and in a table with hash partitions
 * by bot, on one PostgreSQL. Both have the same rows and key; each statement is planned once, as the servers plan theirs. Rounds
 * alternate; prints the medians of the time for one statement.
 *
 *   node bench/hash-partitions.ts [--rows 500000] [--partitions 16] [--rounds 5]
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { medianOf } from "./load.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "500000" },
    partitions: { type: "string", default: "16" },
    rounds: { type: "string", default: "5" },
  },
});
const [rows, partitions, rounds] = [Number(values.rows), Number(values.partitions), Number(values.rounds)];
const STATEMENTS = 50_000;
const BOTS = 200;

const columns = "(bot_id text not null, code text not null, user_id text not null, primary key (code, bot_id))";
const code = "md5(n::text)";
const bot = `(7000000000 + n % ${BOTS})::text`;
const tables = { plain: "", parted: "partition by hash (bot_id)" };
type Kind = keyof typeof tables;

/** A function that repeats one statement, and keeps its plan. */
const repeated = (name: string, statement: string) => `
  create function ${name}(first integer, last integer) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
  declare n integer; bot text; sought text; found_user text;
  begin
    for n in first .. last loop
      bot := ${bot}; sought := ${code};
      ${statement};
    end loop;
  end $$`;

const postgres = await findPostgres();
const database = await openDatabase({
  databaseUrl: postgres.url,
  dataDirectory: "",
  schema: "bench_hash_partitions",
  migrations: {},
  limits: { statementMs: 600_000, silentMs: 600_000 },
  poolSize: 1,
});
const run = (text: string) => database.run({ name: "", text: text.replaceAll("@", "bench_hash_partitions.") }, []);
try {
  for (const [kind, by] of Object.entries(tables)) {
    await run(`create table @${kind} ${columns} ${by}`);
    for (let part = 0; by !== "" && part < partitions; part++)
      await run(
        `create table @parted_${part} partition of @parted for values with (modulus ${partitions}, remainder ${part})`,
      );
    await run(`insert into @${kind} select ${bot}, ${code}, '1' from generate_series(1, ${rows}) as numbers (n)`);
    const read = `select user_id into found_user from @${kind} as t where t.bot_id = bot and t.code = sought`;
    await run(repeated(`@read_${kind}`, read));
    await run(repeated(`@add_${kind}`, `insert into @${kind} values (bot, sought, '1')`));
  }
  await run("vacuum analyze");
  console.log(`${rows} rows, ${partitions} partitions, load of the machine ${loadavg()[0]?.toFixed(1)}`);
  await compare("look-up", (kind) => `select @read_${kind}(1, ${STATEMENTS})`);
  await compare("insert", (kind, round) => {
    const first = rows + 1 + round * STATEMENTS;
    return `select @add_${kind}(${first}, ${first + STATEMENTS - 1})`;
  });
} finally {
  await run("drop schema bench_hash_partitions cascade");
  await database.close();
  await postgres.stop();
}

async function compare(name: string, textOf: (kind: Kind, round: number) => string): Promise<void> {
  const times: Record<Kind, number[]> = { plain: [], parted: [] };
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const kind of ["plain", "parted"] as const) {
      const began = performance.now();
      await run(textOf(kind, round));
      if (round > 0) times[kind].push(((performance.now() - began) * 1000) / STATEMENTS);
    }
  }
  const ratio = medianOf(times.parted.map((time, at) => time / (times.plain[at] ?? Number.NaN)));
  const shown = (kind: Kind) => `${medianOf(times[kind]).toFixed(1)} µs`;
  console.log(`${name}: one table ${shown("plain")}, partitions ${shown("parted")}, × ${ratio.toFixed(2)}`);
}
