import { type Database, openDatabase } from "../../packages/postgres/src/open-database.ts";
import { DAY_MS, type FilledTable, filledDays, filledUntil, perCode } from "./filled-tables.ts";

export interface Filling {
  /** Of both servers' schemas, migrated and seeded. */
  readonly databaseUrl: string;
  readonly botId: string;
  /** Each fourth of them has earned by a view, each fourth by a click. */
  readonly codes: number;
}

/**
 * Fills a store as if its bot had issued this many codes. A table is filled without its indexes, which are built afterwards,
 * all in the transaction that empties it: with `wal_level = minimal` that writes no log. Feeds, sums and money continue
 * behind the rows, as if they had followed them.
 */
export async function fillStore({ databaseUrl, botId, codes }: Filling): Promise<void> {
  const limits = { statementMs: 3_600_000, silentMs: 3_600_000 };
  const database = await openDatabase({
    databaseUrl,
    dataDirectory: "",
    schema: "bench_growth",
    migrations: {},
    poolSize: 3,
    limits,
  });
  const run = (text: string) => database.run({ name: "", text }, []);
  try {
    for (const text of functionsFor({ botId, codes })) await run(text);
    await database.transaction(async (tx) => {
      await tx.run({ name: "", text: "set local idle_in_transaction_session_timeout = 0" }, []);
      // The servers add nothing to sums and money while these rows are locked.
      for (const table of ["stats_progress", "money_progress"])
        await tx.run({ name: "", text: `select from ad_service.${table} order by source for update` }, []);
      const tables = perCode(botId, codes);
      const next = async () => {
        for (let table = tables.shift(); table !== undefined; table = tables.shift()) await fillTable(database, table);
      };
      // Two at a time: a table is filled by one process.
      await Promise.all([next(), next()]);
      for (const text of continueBehind(botId)) await tx.run({ name: "", text }, []);
    });
    await run("vacuum (analyze, parallel 0)");
  } finally {
    await database.close();
  }
}

interface Definition {
  readonly drop: string;
  readonly make: string;
}

/** Foreign keys that need the table's keys, keys and other indexes, in the order in which they are dropped. */
const definitionsOf = (table: string) => `
  select 'alter table ' || conrelid::regclass || ' drop constraint ' || quote_ident(conname) as drop,
    'alter table ' || conrelid::regclass || ' add constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) as make
  from (
    select * from pg_constraint where confrelid = '${table}'::regclass or (conrelid = '${table}'::regclass and contype in ('p', 'u'))
    order by contype
  ) as keys
  union all
  select 'drop index ' || indexrelid::regclass, pg_get_indexdef(indexrelid) from pg_index
  where indrelid = '${table}'::regclass and not exists (select from pg_constraint where conindid = indexrelid)`;

async function fillTable(database: Database, { table, rows }: FilledTable): Promise<void> {
  await database.transaction(async (tx) => {
    const run = <Row>(text: string) => tx.run<Row>({ name: "", text }, []);
    // The server's sessions forbid sequential scans, which a foreign key that is made again needs.
    for (const setting of ["maintenance_work_mem = '512MB'", "enable_seqscan = on", "plan_cache_mode = auto"])
      await run(`set local ${setting}`);
    await run(`truncate ${table} cascade`);
    const definitions = await run<Definition>(definitionsOf(table));
    for (const { drop } of definitions) await run(drop);
    await run(`insert into ${table} ${rows}`);
    for (const { make } of definitions.toReversed()) await run(make);
  });
}

/** All texts derive from the number of the code, so that the tables agree. Users have four codes each. */
function functionsFor({ botId, codes }: Omit<Filling, "databaseUrl">): string[] {
  const users = Math.floor(codes / 4) + 1;
  const until = filledUntil();
  const from = new Date(until.getTime() - filledDays * DAY_MS).toISOString();
  const stepSeconds = (filledDays * DAY_MS) / 1000 / codes;
  const define = (head: string, body: string) =>
    `create function bench_growth.${head} language sql immutable parallel safe return ${body}`;
  return [
    define("time_of(n bigint) returns timestamptz", `timestamptz '${from}' + n * ${stepSeconds} * interval '1 s'`),
    define("user_of(n bigint) returns text", `(2000000000 + n % ${users})::text`),
    // 72 bits of a hash, in the alphabet of codes.
    `do $do$ begin execute format($f$${define(
      "code_of(n bigint) returns text",
      "%L || translate(substr(encode(decode(md5(n::text), 'hex'), 'base64'), 1, 12), '+/01OIlo', '23456789')",
    )}$f$, (select code_prefix from ad_service.bots where bot_id = '${botId}')); end $do$`,
    define("view_of(n bigint) returns text", `'${botId}-' || substr(md5('view' || n), 1, 22)`),
    // UUIDv7: 48 bits of time, then a hash.
    define(
      "uuid_of(n bigint) returns text",
      `regexp_replace(
        lpad(to_hex((extract(epoch from bench_growth.time_of(n)) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
          || '8' || substr(md5(n::text), 4, 15),
        '(.{8})(.{4})(.{4})(.{4})(.{12})', '\\1-\\2-\\3-\\4-\\5')`,
    ),
  ];
}

/** What follows rows in commit order has followed these, as in a store that grew. */
function continueBehind(botId: string): string[] {
  const next = "pg_snapshot_xmax(pg_current_snapshot())";
  return [
    `update ad_service.stats_progress set xid = ${next}, counted_until = now()`,
    `update ad_service.money_progress set xid = ${next}, settled_until = now()`,
    `update api.reconciliations set settled_event_id = null, cursor = (
      select translate(encode(convert_to(epoch_id || '.' || ${next} || '.', 'UTF8'), 'base64'), E'+/=\\n', '-_')
      from ad_service.commit_epochs order by epoch desc limit 1
    ) where bot_id = '${botId}'`,
  ];
}
