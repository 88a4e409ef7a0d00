import pg from "pg";
import type { Runner, Statement } from "./database.ts";
import { qualified } from "./schema-tables.ts";

/** A table that is partitioned by ranges (`partition by range (…)`) of one week each, and whose partitions nodes make. */
export interface PartitionedTable {
  readonly name: string;
  /**
   * The lowest key of the moments from `ms` on, for a key that is not a time but begins with one: its order is that of the
   * moments. Without it the key is a time.
   */
  readonly keyAt?: ((ms: number) => string) | undefined;
  /** Of the partitions, in percent: a partitioned table itself has no storage settings. 100 by default. */
  readonly fillfactor?: number | undefined;
}

/** Rows of a week, or of all weeks: `fromMs` is included, `toMs` is not. Milliseconds of the epoch, infinite where unbounded. */
export interface Partition {
  readonly table: string;
  /** Ends with the first day of its week, which its bounds need not tell. */
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** SQL: `for values …`. */
  readonly bounds: string;
  /** It is being removed: statements that begin now do not see its rows. */
  readonly isDetaching: boolean;
  /** In percent; null where it has the usual one. */
  readonly fillfactor: number | null;
}

const WEEK_MS = 7 * 86_400_000;
/** 1970-01-05, 00:00 UTC. */
const FIRST_MONDAY_MS = 4 * 86_400_000;

/** The beginning of the week (Monday, 00:00 UTC) that contains a moment, in milliseconds of the epoch. */
export function weekStart(moment: number): number {
  return moment - ((((moment - FIRST_MONDAY_MS) % WEEK_MS) + WEEK_MS) % WEEK_MS);
}

const day = `to_date(substring(part.relname from '_([0-9]{8})$'), 'YYYYMMDD')`;
const weekMs = `(extract(epoch from ${day}) * 1000)::float8`;

const partitionsText = `select parent.relname::text as table, part.relname::text as name,
    coalesce(${weekMs}, '-infinity') as "fromMs", coalesce(${weekMs} + ${WEEK_MS}, 'infinity') as "toMs",
    pg_get_expr(part.relpartbound, part.oid) as bounds, inhdetachpending as "isDetaching",
    (select option_value::integer from pg_options_to_table(part.reloptions) where option_name = 'fillfactor') as fillfactor
  from pg_partitioned_table join pg_class as parent on parent.oid = partrelid
  join pg_inherits on inhparent = parent.oid join pg_class as part on part.oid = inhrelid
  where parent.relnamespace = to_regnamespace($1) and partstrat = 'r' and ($2::text is null or parent.relname = $2) order by 1, 3`;

/** Unnamed, as it is rarely read. */
const read: Statement<Partition> = { name: "", text: partitionsText };

/** All partitions by week of a schema, or of one of its tables, by table and time. */
export function readPartitions(database: Pick<Runner, "run">, schema: string, table?: string): Promise<Partition[]> {
  return database.run(read, [schema, table ?? null]);
}

/** The same on a connection of its own. */
export async function partitionsOf(client: pg.ClientBase, schema: string): Promise<Partition[]> {
  return (await client.query<Partition>(partitionsText, [schema, null])).rows;
}

/** Until when each of the tables has partitions without a gap from `moment` on. `moment` itself where one has none. */
export function coveredUntil(
  partitions: readonly Partition[],
  tables: readonly Pick<PartitionedTable, "name">[],
  moment: number,
): number {
  const until = tables.map(({ name }) =>
    partitions
      .filter(({ table, isDetaching }) => table === name && !isDetaching)
      .reduce((end, { fromMs, toMs }) => (fromMs <= end && end < toMs ? toMs : end), moment),
  );
  return Math.min(...until);
}

interface PartitionRange {
  readonly schema: string;
  readonly tables: readonly PartitionedTable[];
  /** Each week that this range touches gets a partition of each table. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Makes the partitions that a range of time lacks, in one transaction: weeks of which a partition has a part already are left
 * out. Statements that read and write the tables do not wait for it: a new table is attached, for which PostgreSQL locks the
 * partitioned table only against other changes of its form. A week that was detached by hand is attached again, with its rows. Nodes that do this at the same time wait for each other.
 *
 * @returns the names of the new partitions.
 */
export async function makePartitions(client: pg.ClientBase, range: PartitionRange): Promise<string[]> {
  const { schema } = range;
  if (missing(await partitionsOf(client, schema), range).length === 0) return [];
  await client.query("begin");
  try {
    // For another node that makes them, and for the ends of weeks that are being dropped.
    await client.query("set local lock_timeout to '10s'; set local timezone to 'UTC'");
    await client.query("select pg_advisory_xact_lock(hashtext($1))", [`intermission.partitions.${schema}`]);
    const made = missing(await partitionsOf(client, schema), range);
    if (made.length > 0) await client.query(made.map((one) => makePartitionText(schema, one)).join(";\n"));
    await client.query("commit");
    return made.map(({ name }) => name);
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

type NewPartition = Pick<Partition, "table" | "name" | "bounds"> & Pick<PartitionedTable, "fillfactor">;

function missing(
  found: readonly Partition[],
  { tables, fromMs, toMs }: Omit<PartitionRange, "schema">,
): NewPartition[] {
  const weeks: number[] = [];
  for (let week = weekStart(fromMs); week < toMs; week += WEEK_MS) weeks.push(week);
  return tables.flatMap((table) => {
    const own = found.filter((one) => one.table === table.name);
    return weeks
      .filter((week) => !own.some((one) => one.fromMs < week + WEEK_MS && week < one.toMs))
      .map((week) => ofWeek(table, week));
  });
}

function ofWeek({ name, fillfactor, keyAt = timeAt }: PartitionedTable, week: number): NewPartition {
  const [from, to] = [keyAt(week), keyAt(week + WEEK_MS)].map((key) => pg.escapeLiteral(key));
  const day = timeAt(week).slice(0, 10).replaceAll("-", "");
  return { table: name, name: `${name}_${day}`, bounds: `for values from (${from}) to (${to})`, fillfactor };
}

/** The table and the week of a partition that is called as `makePartitions` does. */
export function weekOfName(name: string): Pick<Partition, "table" | "fromMs" | "toMs"> {
  const [, table = "", year, month, date] = /^(.+)_([0-9]{4})([0-9]{2})([0-9]{2})$/.exec(name) ?? [];
  const fromMs = Date.UTC(Number(year), Number(month) - 1, Number(date));
  return { table, fromMs, toMs: fromMs + WEEK_MS };
}

const timeAt = (ms: number) => new Date(ms).toISOString();

/** The only partition of a table whose rows are of any week: for tests, whose clocks move by years. */
export function partitionOfAllWeeks(table: string): NewPartition {
  return { table, name: `${table}_all`, bounds: "for values from (minvalue) to (maxvalue)", fillfactor: undefined };
}

/** Whether a row was refused because one with its primary key exists: the key is named after the partition. */
export function isTakenIn(table: string, error: unknown): boolean {
  if (!(error instanceof Error && "constraint" in error)) return false;
  return new RegExp(`^${table}(_[0-9]{8}|_all)?_pkey$`).test(String(error.constraint));
}

/** SQL that makes a partition and attaches it to its table. */
export function makePartitionText(schema: string, { table, name, bounds, fillfactor }: NewPartition): string {
  const [parent, own] = [qualified(schema, table), qualified(schema, name)];
  const storage = fillfactor === undefined ? "" : ` with (fillfactor = ${fillfactor})`;
  // Not `partition of`, which keeps all statements off the partitioned table.
  return `create table if not exists ${own} (like ${parent} including all)${storage};
    alter table ${parent} attach partition ${own} ${bounds}`;
}
