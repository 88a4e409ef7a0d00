import { randomBytes } from "node:crypto";
import type pg from "pg";

/**
 * Transaction ids order the rows of a feed (see `commit-cursor.ts`), and they are valid in one history of one cluster: in
 * another cluster they begin again, and a restored backup of the files sets them back. So the tables store their epochs,
 * and a cursor contains its epoch.
 *
 * - Another cluster, another timeline (a standby was promoted, or a backup recovered to a point in time) or another copy of
 *   the tables (a dump was restored): ids get a new offset, above all ids in the tables.
 * - A restart of the server: ids continue, unless older files were restored. A cursor newer than
 *   these files has an epoch that they do not know, or is set back to where the next epoch begins.
 */

/** The number of ids per offset: far more than a cluster uses, and 2^15 offsets fit into an int8. */
const OFFSET_STEP = 2n ** 48n;
/** A process that restarts every second reaches it in hours. Cursors of older epochs are refused; readers start again. */
const MAX_EPOCHS = 10_000;

/** A dump copies the contents of the table, but the copy has another object id. */
const identities = {
  cluster: (schema: string) =>
    `(select system_identifier::text from pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
      || '/' || '${schema}.commit_epochs'::regclass::oid`,
  /** For database services that do not grant the functions of `cluster`. */
  tables: (schema: string) => `'${schema}.commit_epochs'::regclass::oid::text`,
};
type Identity = keyof typeof identities;

/** Makes the table, and the functions with offset 0, if they are missing, in the caller's transaction. */
export async function makeCommitEpochs(client: pg.ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<{ is_there: boolean }>("select to_regclass($1) is not null as is_there", [
    `${schema}.commit_epochs`,
  ]);
  if (rows[0]?.is_there === true) return;
  await client.query(`
    create table ${schema}.commit_epochs (
      epoch integer primary key,
      -- The id in cursors.
      epoch_id text not null unique,
      cluster text not null,
      server_started_at text not null,
      xid_offset bigint not null,
      -- At most the xid of every row of this epoch, above every row of earlier epochs.
      starts_at xid8 not null unique
    );
    ${functionsAt(schema, 0n)}`);
}

/**
 * `commit_xid()` is the default of a row's column, `settled_xid()` ends a page: every transaction below it has ended. The
 * offset is a constant in their text, so that without a restore they cost nothing (the planner inlines them).
 */
function functionsAt(schema: string, offset: bigint): string {
  const shifted = (xid: string) => (offset === 0n ? xid : `((${xid})::text::bigint + ${offset})::text::xid8`);
  return `
    create or replace function ${schema}.commit_xid() returns xid8 language sql volatile parallel unsafe
      as 'select ${shifted("pg_current_xact_id()")}';
    create or replace function ${schema}.settled_xid() returns xid8 language sql stable parallel safe
      as 'select ${shifted("pg_snapshot_xmin(pg_current_snapshot())")}';`;
}

/**
 * Begins a new epoch after a restart of the server, or if the data are in another cluster than before. Call it on each new
 * connection, outside a transaction. If several nodes detect this at the same time, one begins the epoch and the others wait.
 */
export async function enterCommitEpoch(client: pg.ClientBase, schema: string): Promise<void> {
  const { identity, state } = await readableState(client, schema);
  if (isCurrent(state)) return;
  await inTransaction(client, async () => {
    await client.query("select pg_advisory_xact_lock(hashtext($1))", [`intermission.commit-epoch.${schema}`]);
    const locked = await stateOf(client, schema, identity);
    if (!isCurrent(locked)) await beginEpoch(client, schema, locked);
  });
}

interface State {
  readonly cluster: string;
  readonly server_started_at: string;
  readonly next_xid: string;
  /** Null before the first epoch, like all following fields. */
  readonly last_epoch: number | null;
  readonly last_cluster: string | null;
  readonly last_server_started_at: string | null;
  readonly last_offset: string | null;
  readonly last_starts_at: string | null;
}

async function readableState(client: pg.ClientBase, schema: string): Promise<{ identity: Identity; state: State }> {
  try {
    return { identity: "cluster", state: await stateOf(client, schema, "cluster") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // Insufficient privilege, undefined function, feature not supported.
    if (code !== "42501" && code !== "42883" && code !== "0A000") throw error;
    return { identity: "tables", state: await stateOf(client, schema, "tables") };
  }
}

async function stateOf(client: pg.ClientBase, schema: string, identity: Identity): Promise<State> {
  const { rows } = await client.query<State>(
    `select ${identities[identity](schema)} as cluster,
      extract(epoch from pg_postmaster_start_time())::text as server_started_at,
      pg_snapshot_xmax(pg_current_snapshot())::text as next_xid,
      epoch as last_epoch, last.cluster as last_cluster, last.server_started_at as last_server_started_at,
      xid_offset::text as last_offset, starts_at::text as last_starts_at
    from (values (1)) as one (row)
    left join (select * from ${schema}.commit_epochs order by epoch desc limit 1) as last on true`,
  );
  const [state] = rows;
  if (state === undefined) throw new Error("the cluster's identity could not be read");
  return state;
}

function isCurrent(state: State): boolean {
  return (
    state.cluster === state.last_cluster &&
    state.server_started_at === state.last_server_started_at &&
    !isRewound(state)
  );
}

/** The cluster's next id is lower than one that it has assigned before. */
function isRewound({ next_xid, last_offset, last_starts_at }: State): boolean {
  return BigInt(next_xid) + BigInt(last_offset ?? 0) < BigInt(last_starts_at ?? 0);
}

async function beginEpoch(client: pg.ClientBase, schema: string, state: State): Promise<void> {
  const { last_epoch: lastEpoch, cluster, server_started_at: serverStartedAt } = state;
  const lastOffset = BigInt(state.last_offset ?? 0);
  const isElsewhere = lastEpoch !== null && (state.last_cluster !== cluster || isRewound(state));
  const offset = isElsewhere ? lastOffset + OFFSET_STEP : lastOffset;
  if (isElsewhere) await client.query(functionsAt(schema, offset));
  const startsAt = lastEpoch === null ? "'0'" : `${schema}.commit_xid()`;
  await client.query(
    `insert into ${schema}.commit_epochs (epoch, epoch_id, cluster, server_started_at, xid_offset, starts_at)
     values ($1, $2, $3, $4, $5, ${startsAt})`,
    [(lastEpoch ?? -1) + 1, randomBytes(9).toString("base64url"), cluster, serverStartedAt, String(offset)],
  );
  // The first epoch stays: it is the epoch of all rows that are older than the other epochs.
  await client.query(`delete from ${schema}.commit_epochs where epoch between 1 and $1`, [
    (lastEpoch ?? 0) - MAX_EPOCHS,
  ]);
}

async function inTransaction(client: pg.ClientBase, work: () => Promise<unknown>): Promise<void> {
  await client.query("begin");
  try {
    await work();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
