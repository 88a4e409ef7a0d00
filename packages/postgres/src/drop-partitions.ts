import pg from "pg";
import { type Partition, partitionsOf, weekOfName } from "./partitions.ts";
import { qualified } from "./schema-tables.ts";

type Week = Pick<Partition, "table" | "name" | "fromMs" | "toMs">;

interface DropPartitionsOptions {
  readonly schema: string;
  /** Whether a week's rows are no longer kept: asked of each before it would be dropped. */
  readonly isExpired: (week: Week) => boolean;
  /**
   * SQL of conditions, by table: a partition with a row for which one of them is true is kept for now.
   */
  readonly neededWhile?: Readonly<Record<string, readonly string[]>>;
  /** Tables whose rows are needed by those of another table: a week of the first goes only after that of the second. */
  readonly after?: Readonly<Record<string, string>>;
  /** How long a step waits for transactions that use a partition. Others do not wait for it meanwhile. */
  readonly waitMs?: number;
}

interface DroppedPartitions {
  readonly dropped: readonly string[];
  /** Some row of these is still needed. */
  readonly needed: readonly string[];
  /** Of tables that a long transaction uses, such as a dump: call this again later. */
  readonly busy: readonly string[];
  /** Kept weeks that were detached from their table by hand. */
  readonly detached: readonly string[];
}

/** SQLSTATE: the lock was not available in time, or a deadlock. */
const BUSY = ["55P03", "40P01"];

/**
 * Drops expired partitions with all their rows, while others read and write the tables: a partition is detached concurrently,
 * so that no statement waits for it, and dropped when no transaction uses it any more. A drop that was interrupted at any
 * moment is completed by the next call. A kept week that is detached was detached by hand, and is not dropped. One of several
 * nodes does this; the others return at once.
 *
 * The connection has the schema as its search path, and is not in a transaction.
 */
export async function dropPartitions(
  client: pg.ClientBase,
  { schema, isExpired, neededWhile = {}, after = {}, waitMs = 5000 }: DropPartitionsOptions,
): Promise<DroppedPartitions> {
  const lock = [`intermission.drop-partitions.${schema}`];
  const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_lock(hashtext($1)) as locked", lock);
  if (rows[0]?.locked !== true) return { dropped: [], needed: [], busy: [], detached: [] };
  const result: Record<keyof DroppedPartitions, string[]> = { dropped: [], needed: [], busy: [], detached: [] };
  try {
    await client.query(`set lock_timeout to ${waitMs}`);
    for (const { name, ...week } of await detachedBefore(client, schema))
      result[isExpired({ name, ...week }) ? await drop(client, schema, name) : "detached"].push(name);
    const busyTables = new Set<string>();
    const partitions = await partitionsOf(client, schema);
    const left = new Set(partitions.map(weekOf));
    for (const partition of inOrder(partitions, after)) {
      if (busyTables.has(partition.table) || !(partition.isDetaching || isExpired(partition))) continue;
      const other = after[partition.table];
      if (other !== undefined && left.has(weekOf({ ...partition, table: other }))) continue;
      const { outcome } = await detachAndDrop(client, schema, partition, {
        neededWhile,
        isDropped: isExpired(partition),
      });
      result[outcome].push(partition.name);
      if (outcome === "dropped") left.delete(weekOf(partition));
      if (outcome === "busy") busyTables.add(partition.table);
    }
  } finally {
    await client.query("reset lock_timeout").catch(() => {});
    await client.query("select pg_advisory_unlock(hashtext($1))", lock).catch(() => {});
  }
  return result;
}

const weekOf = ({ table, fromMs }: Pick<Partition, "table" | "fromMs">) => `${table} ${fromMs}`;

/** PostgreSQL detaches one partition of a table at a time: one that was begun comes first. */
function inOrder(partitions: readonly Partition[], after: Readonly<Record<string, string>>): Partition[] {
  const rank = ({ table, isDetaching }: Partition) => (isDetaching ? 0 : after[table] === undefined ? 1 : 2);
  return partitions.toSorted((one, other) => rank(one) - rank(other));
}

async function detachAndDrop(
  client: pg.ClientBase,
  schema: string,
  { table, name, isDetaching }: Partition,
  { neededWhile, isDropped }: { neededWhile: Readonly<Record<string, readonly string[]>>; isDropped: boolean },
): Promise<{ outcome: keyof DroppedPartitions }> {
  for (const condition of (isDetaching ? undefined : neededWhile[table]) ?? [])
    if (await hasRow(client, schema, { name, condition })) return { outcome: "needed" };
  const own = qualified(schema, name);
  const detached = await unlessBusy(
    client.query(
      `alter table ${qualified(schema, table)} detach partition ${own} ${isDetaching ? "finalize" : "concurrently"}`,
    ),
  );
  if (!detached) return { outcome: "busy" };
  return { outcome: isDropped ? await drop(client, schema, name) : "detached" };
}

async function hasRow(
  client: pg.ClientBase,
  schema: string,
  { name, condition }: { name: string; condition: string },
): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(
    `select exists (select from ${qualified(schema, name)} where ${condition}) as is_there`,
  );
  return rows[0]?.is_there === true;
}

async function drop(client: pg.ClientBase, schema: string, name: string): Promise<"dropped" | "busy"> {
  return (await unlessBusy(client.query(`drop table ${qualified(schema, name)}`))) ? "dropped" : "busy";
}

async function unlessBusy(query: Promise<unknown>): Promise<boolean> {
  try {
    await query;
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && BUSY.includes(error.code ?? "")) return false;
    throw error;
  }
}

/** Tables that were partitions: those that a process which ended had detached, and not dropped yet. */
async function detachedBefore(client: pg.ClientBase, schema: string): Promise<Week[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = to_regnamespace($1) and relkind = 'r' and not relispartition
       and relname ~ '_[0-9]{8}$' and left(relname, -9) in (
         select parent.relname from pg_partitioned_table join pg_class as parent on parent.oid = partrelid
         where parent.relnamespace = to_regnamespace($1) and partstrat = 'r')`,
    [schema],
  );
  return rows.map(({ name }) => ({ name, ...weekOfName(name) }));
}
