import type pg from "pg";

/** What limits the connections of this process, and what others use of it now. -1 is no limit, as in PostgreSQL's catalog. */
export interface ConnectionFacts {
  readonly maxConnections: number;
  /** Kept by the server for superusers and for `reserved_connections`. */
  readonly reserved: number;
  readonly ofDatabase: number;
  readonly ofRole: number;
  /** Connections of others: to the server, to this database, of this role. */
  readonly used: { readonly all: number; readonly ofDatabase: number; readonly ofRole: number };
}

/** The pool, and the connection that listens. */
const connectionsOf = (poolSize: number) => poolSize + 1;

/**
 * What the operator should change if the pool does not fit beside the connections that are open now; undefined if it fits. A
 * pool opens connections as it needs them: without this, the fault shows only under load.
 */
export function connectionWarning(facts: ConnectionFacts, { poolSize }: { poolSize: number }): string | undefined {
  const { maxConnections, reserved, used } = facts;
  const needed = connectionsOf(poolSize);
  const limits = [
    {
      name: `max_connections ${maxConnections} of the database server, less ${reserved} reserved`,
      left: maxConnections - reserved - used.all,
      isLimited: true,
    },
    {
      name: `the connection limit ${facts.ofDatabase} of the database`,
      left: facts.ofDatabase - used.ofDatabase,
      isLimited: facts.ofDatabase >= 0,
    },
    {
      name: `the connection limit ${facts.ofRole} of the database's user`,
      left: facts.ofRole - used.ofRole,
      isLimited: facts.ofRole >= 0,
    },
  ];
  const tooLow = limits.filter(({ left, isLimited }) => isLimited && left < needed).sort((a, b) => a.left - b.left)[0];
  if (tooLow === undefined) return undefined;
  return (
    `this process may open ${needed} connections (DATABASE_POOL_SIZE ${poolSize}, and one that listens), and ` +
    `${Math.max(0, tooLow.left)} are free: ${tooLow.name}. Under load its requests would be answered 503: lower ` +
    "DATABASE_POOL_SIZE on the nodes, or raise that limit"
  );
}

/** Connections of clients have a user; those of autovacuum have none. Users that are not superusers see this much of others. */
const factsQuery = `
  with others as (
    select datname, usename from pg_stat_activity
    where datname is not null and usename is not null and pid <> pg_backend_pid()
  )
  select current_setting('max_connections')::int as "maxConnections",
    current_setting('superuser_reserved_connections')::int
      + coalesce(nullif(current_setting('reserved_connections', true), ''), '0')::int as reserved,
    (select datconnlimit from pg_database where datname = current_database()) as "ofDatabase",
    (select rolconnlimit from pg_roles where rolname = current_user) as "ofRole",
    (select json_build_object('all', count(*), 'ofDatabase', count(*) filter (where datname = current_database()),
      'ofRole', count(*) filter (where usename = current_user)) from others) as used`;

export async function readConnectionFacts(client: pg.ClientBase): Promise<ConnectionFacts> {
  const { rows } = await client.query<ConnectionFacts>(factsQuery);
  const [facts] = rows;
  if (!facts) throw new Error("the database returned no connection limits");
  return facts;
}
