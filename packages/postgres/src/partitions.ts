import pg from "pg";
import type { Runner, Statement } from "./database.ts";
import { qualified } from "./schema-tables.ts";

/** A table that is partitioned by a range of time (`partition by range (…)`), and whose partitions nodes make. */
export interface PartitionedTable {
  readonly name: string;
  /** Of the partitions, in percent: a partitioned table itself has no storage settings. 100 by default. */
  readonly fillfactor?: number | undefined;
}

/** Rows of a range of time: `fromMs` is included, `toMs` is not. Milliseconds of the epoch, infinite where unbounded. */
export interface Partition {
  readonly table: string;
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
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

const bounds = (number: 1 | 2) => `(extract(epoch from bounds[${number}]::timestamptz) * 1000)::float8`;

/** The session's time zone is that of the bounds' text, so it does not matter which one it is. */
const partitionsText = `select parent.relname::text as table, part.relname::text as name,
    ${bounds(1)} as "fromMs", ${bounds(2)} as "toMs", inhdetachpending as "isDetaching",
    (select option_value::integer from pg_options_to_table(part.reloptions) where option_name = 'fillfactor') as fillfactor
  from pg_partitioned_table join pg_class as parent on parent.oid = partrelid
  join pg_inherits on inhparent = parent.oid join pg_class as part on part.oid = inhrelid
  cross join lateral regexp_match(pg_get_expr(part.relpartbound, part.oid), '^FOR VALUES FROM \\(''(.+)''\\) TO \\(''(.+)''\\)$') as bounds
  where parent.relnamespace = to_regnamespace($1) and partstrat = 'r' order by 1, 3`;

/** Unnamed, as it is rarely read. */
const read: Statement<Partition> = { name: "", text: partitionsText };

/** All partitions by time of a schema, by table and time. */
export function readPartitions(database: Pick<Runner, "run">, schema: string): Promise<Partition[]> {
  return database.run(read, [schema]);
}

/** The same on a connection of its own. */
export async function partitionsOf(client: pg.ClientBase, schema: string): Promise<Partition[]> {
  return (await client.query<Partition>(partitionsText, [schema])).rows;
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

export interface PartitionRange {
  readonly schema: string;
  readonly tables: readonly PartitionedTable[];
  /** Each week that this range touches gets a partition of each table. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Makes the partitions that a range of time lacks, in one transaction: weeks of which a partition has a part already are left
 * out. Statements that read and write the tables do not wait for it: a new table is attached, for which PostgreSQL locks the
 * partitioned table only against other changes of its form. Nodes that do this at the same time wait for each other.
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
    return made.map(partitionName);
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

type NewPartition = Pick<Partition, "table" | "fromMs" | "toMs"> & Pick<PartitionedTable, "fillfactor">;

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
      .map((week) => ({ table: table.name, fillfactor: table.fillfactor, fromMs: week, toMs: week + WEEK_MS }));
  });
}

function partitionName({ table, fromMs }: NewPartition): string {
  const day = Number.isFinite(fromMs) ? new Date(fromMs).toISOString().slice(0, 10).replaceAll("-", "") : "all";
  return `${table}_${day}`;
}

/** SQL that makes a partition and attaches it to its table. */
export function makePartitionText(schema: string, partition: NewPartition): string {
  const { table, fromMs, toMs, fillfactor } = partition;
  const [parent, own] = [qualified(schema, table), qualified(schema, partitionName(partition))];
  const storage = fillfactor === undefined ? "" : ` with (fillfactor = ${fillfactor})`;
  // Not `partition of`, which keeps all statements off the partitioned table.
  return `create table ${own} (like ${parent} including all)${storage};
    alter table ${parent} attach partition ${own} for values from (${boundText(fromMs)}) to (${boundText(toMs)})`;
}

function boundText(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return "'infinity'";
  return ms === Number.NEGATIVE_INFINITY ? "'-infinity'" : pg.escapeLiteral(new Date(ms).toISOString());
}
