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

export const bindingAdvice = "the Worker's configuration does not name it, or it has another name there";

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

export const redisNeeded =
  "redisStore needs a client of the package redis (4 or newer), or one that takes its options: set(key, value, { NX: true, PX: 1000 }) returns null if the key exists";

interface CheckedRedis {
  set(key: string, value: string, options: { NX: true; PX: number }): Promise<unknown>;
  get(key: string): Promise<unknown>;
  del(key: string): Promise<unknown>;
  eval?: ((script: string, options: { keys: string[]; arguments: string[] }) => Promise<unknown>) | undefined;
}

const checks = new WeakMap<CheckedRedis, Promise<void>>();

/**
 * Tries once for each client whether `NX`, `get` and, if it has it, `eval` work as the store needs. Rejects with a TypeError if they do
 * not, and with the client's own error if it is out of reach: then the next call tries again.
 */
export function checkRedis(redis: CheckedRedis, prefix: string): Promise<void> {
  const known = checks.get(redis);
  if (known) return known;
  const check = tryRedis(redis, `${prefix}check:${crypto.randomUUID()}`);
  checks.set(redis, check);
  check.catch(() => checks.delete(redis));
  return check;
}

async function tryRedis(redis: CheckedRedis, key: string): Promise<void> {
  const set = () => redis.set(key, "text", { NX: true, PX: 60_000 });
  try {
    const first = await set();
    if (first === null || (await set()) !== null) throw new TypeError(redisNeeded);
    if ((await redis.get(key)) !== "text")
      throw new TypeError(
        "redisStore needs a client whose get(key) returns text: leave out what makes it return bytes",
      );
  } catch (error) {
    if (error instanceof Error && /syntax error/i.test(error.message))
      throw new TypeError(redisNeeded, { cause: error });
    throw error;
  } finally {
    // One that does not know PX keeps the key for ever.
    await Promise.resolve(redis.del(key)).catch(() => {});
  }
  if (redis.eval && Number(await redis.eval("return 1", { keys: [key], arguments: [] })) !== 1)
    throw new TypeError(
      "redisStore needs eval(script, { keys, arguments }) of the package redis: leave eval out of a client that has another one",
    );
}
