/**
 * What the stores need of their databases. Another client with the same method names loses rewards or pays them twice without an
 * error: one that answers later "finds" each event, and one that does not know an option never says that a key exists.
 */

function hasMethods(client: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => typeof (client as Record<string, unknown> | null | undefined)?.[name] === "function");
}

/** Throws a TypeError for what has not these methods. */
export function requireMethods(client: unknown, names: readonly string[], message: string): void {
  if (!hasMethods(client, ...names)) throw new TypeError(message);
}

/** Throws a TypeError for a client of SQLite that answers to callbacks or by promises. */
export function requireSynchronousSqlite(database: unknown): void {
  const message =
    "sqliteStore needs a database of node:sqlite, better-sqlite3 or bun:sqlite, which answer at once; sqlite3, sqlite and libsql/promise answer later";
  requireMethods(database, ["exec", "prepare"], message);
  const statement: unknown = (database as { prepare(sql: string): unknown }).prepare("select 1 as found");
  requireMethods(statement, ["get", "run"], message);
  const row = (statement as { get(): unknown }).get() as { found?: unknown } | null | undefined;
  // 1n, where the client reads whole numbers as BigInt.
  if (Number(row?.found) !== 1) throw new TypeError(message);
}

export const poolNeeded = "postgresStore needs a Pool of pg: new Pool({ connectionString })";

/** A connection of the pool. A `Client` of pg has the method, too, and hands out none. */
export async function takeFromPool<Connection>(pool: { connect(): Promise<Connection> }): Promise<Connection> {
  const connection = await pool.connect().catch((error: unknown) => {
    const isClient = error instanceof Error && error.message.includes("already been connected");
    throw isClient ? new TypeError(poolNeeded, { cause: error }) : error;
  });
  requireMethods(connection, ["query", "release"], poolNeeded);
  return connection;
}
