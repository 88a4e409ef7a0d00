import { availableParallelism } from "node:os";
import { keptKinds, partitionedTables, tableNames } from "../../apps/ad-service/src/retention/kept-rows.ts";
import { usualRetention } from "../../apps/ad-service/src/retention/retention-settings.ts";
import { type Database, type OpenedDatabase, openDatabase } from "../../packages/postgres/src/open-database.ts";
import { makePartitions, readPartitions } from "../../packages/postgres/src/partitions.ts";
import { DAY_MS, type FilledPeriod, functionsFor, type NumberRange, numbersBetween } from "./filled-period.ts";
import { type FilledTable, perCode } from "./filled-tables.ts";

export interface Filling {
  /** Of both servers' schemas, migrated and seeded. */
  readonly databaseUrl: string;
  readonly botId: string;
  /** Each fourth of the codes has earned by a view, each fourth by a click. */
  readonly period: FilledPeriod;
}

const adService = "ad_service";
/** A table is filled by one process. */
const SESSIONS = Math.max(2, availableParallelism());

/**
 * Fills a store as if its bot had issued these codes: with the rows that the ad service still has by its usual settings, since
 * weeks that it would have dropped are not made. A table is filled without its indexes, in the transaction that empties it, and
 * they are built afterwards: with `wal_level = minimal` that writes no log. Feeds, sums and money continue behind the rows, as
 * if they had followed them.
 *
 * @returns the codes of which the ad service has the row.
 */
export async function fillStore({ databaseUrl, botId, period }: Filling): Promise<{ keptCodes: number }> {
  const database = await openDatabase({
    databaseUrl,
    dataDirectory: "",
    schema: "bench_growth",
    migrations: {},
    poolSize: SESSIONS + 1,
    limits: { statementMs: 3_600_000, silentMs: 3_600_000 },
  });
  const run = <Row>(text: string) => database.run<Row>({ name: "", text }, []);
  try {
    const bots = `select code_prefix as "codePrefix" from ad_service.bots where bot_id = '${botId}'`;
    const [bot] = await run<{ codePrefix: string }>(bots);
    if (bot === undefined) throw new Error(`the store has no bot ${botId}`);
    for (const text of functionsFor(period, { botId, ...bot })) await run(text);
    await makeKeptPartitions(database, period);
    const tables = await inParts(database, perCode({ botId, period }), period);
    await database.transaction(async (tx) => {
      await tx.run({ name: "", text: "set local idle_in_transaction_session_timeout = 0" }, []);
      // The servers add nothing to sums and money while these rows are locked.
      for (const table of ["stats_progress", "money_progress"])
        await tx.run({ name: "", text: `select from ad_service.${table} order by source for update` }, []);
      await fillTables(database, tables);
      for (const text of continueBehind(botId)) await tx.run({ name: "", text }, []);
    });
    // Only now: rows that are newer than a transaction under way would not be marked as visible to all.
    await inParallel(
      tables.flatMap(({ parts }) => parts),
      async ({ name }) => {
        await run(`vacuum (parallel 0) ${name}`);
        // It logs whole pages, which would need as much disk as the rows.
        await run("checkpoint");
      },
    );
    await inParallel(tables, ({ table }) => run(`analyze ${table}`));
    const codes = tables.find(({ table }) => table === `${adService}.codes`)?.parts ?? [];
    return { keptCodes: codes.reduce((sum, { numbers }) => sum + numbers.last - numbers.first + 1, 0) };
  } finally {
    await database.close();
  }
}

/** Makes the weeks of the period that the ad service would not have dropped yet. */
async function makeKeptPartitions(database: OpenedDatabase, { from }: FilledPeriod): Promise<void> {
  const now = Date.now();
  for (const kind of keptKinds) {
    const tables = partitionedTables.filter(({ name }) => tableNames(kind).includes(name));
    const fromMs = Math.max(from.getTime(), now - usualRetention[kind] * DAY_MS);
    await database.withoutTimeout((client) => makePartitions(client, { schema: adService, tables, fromMs, toMs: now }));
  }
}

/** A table without weeks, or a week of one, and the codes whose rows it gets. */
interface FilledPart {
  readonly name: string;
  readonly numbers: NumberRange;
}

interface TableInParts extends FilledTable {
  readonly isByWeek: boolean;
  readonly parts: readonly FilledPart[];
}

async function inParts(
  database: Database,
  tables: readonly FilledTable[],
  period: FilledPeriod,
): Promise<TableInParts[]> {
  const partitions = await readPartitions(database, adService);
  return tables.map((filled) => {
    const weeks = partitions.filter(({ table }) => `${adService}.${table}` === filled.table);
    const parts = weeks
      .map((week) => ({ name: `${adService}.${week.name}`, numbers: numbersBetween(period, week) }))
      .filter(({ numbers }) => numbers.first <= numbers.last);
    const whole = { name: filled.table, numbers: { first: 1, last: period.codes } };
    return { ...filled, isByWeek: weeks.length > 0, parts: weeks.length > 0 ? parts : [whole] };
  });
}

async function fillTables(database: Database, tables: readonly TableInParts[]): Promise<void> {
  const makeAgain: Definition[] = [];
  const fills: (() => Promise<void>)[] = [];
  // Those without weeks first, since they take longest.
  for (const { table, isByWeek, parts, rows } of tables.toSorted((a, b) => Number(a.isByWeek) - Number(b.isByWeek))) {
    const definitions = await definitionsOf(database, table);
    if (isByWeek) makeAgain.push(...definitions.toReversed());
    for (const { name, numbers } of parts) {
      const own = isByWeek ? await definitionsOf(database, name) : definitions;
      fills.push(() => fillPart(database, { name, rows: rows(numbers), definitions: own }));
    }
    for (const { drop } of definitions) await database.run({ name: "", text: drop }, []);
  }
  await inParallel(fills, (fill) => fill());
  // Takes over the indexes of the weeks that have them.
  for (const { make } of makeAgain) await database.run({ name: "", text: make }, []);
}

interface Definition {
  readonly drop: string;
  readonly make: string;
}

/** Foreign keys that need the table's keys, keys and other indexes, in the order in which they are dropped. */
function definitionsOf(database: Database, table: string): Promise<Definition[]> {
  const text = `
    select 'alter table ' || conrelid::regclass || ' drop constraint ' || quote_ident(conname) as drop,
      'alter table ' || conrelid::regclass || ' add constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) as make
    from (
      select * from pg_constraint where (confrelid = '${table}'::regclass and conparentid = 0)
        or (conrelid = '${table}'::regclass and contype in ('p', 'u'))
      order by contype
    ) as keys
    union all
    select 'drop index ' || indexrelid::regclass, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') from pg_index
    where indrelid = '${table}'::regclass and not exists (select from pg_constraint where conindid = indexrelid)`;
  return database.run<Definition>({ name: "", text }, []);
}

interface PartToFill {
  readonly name: string;
  /** What follows `insert into <name>`. */
  readonly rows: string;
  readonly definitions: readonly Definition[];
}

async function fillPart(database: Database, { name, rows, definitions }: PartToFill): Promise<void> {
  await database.transaction(async (tx) => {
    const run = (text: string) => tx.run({ name: "", text }, []);
    // The server's sessions forbid sequential scans, which a foreign key that is made again needs.
    for (const setting of ["maintenance_work_mem = '512MB'", "enable_seqscan = on", "plan_cache_mode = auto"])
      await run(`set local ${setting}`);
    await run(`truncate ${name} cascade`);
    await run(`insert into ${name} ${rows}`);
    for (const { make } of definitions.toReversed()) await run(make);
  });
}

/** As many at a time as there are sessions. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const next = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: SESSIONS }, next));
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
