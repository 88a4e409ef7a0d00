import { randomUUID } from "node:crypto";
import pg from "pg";
import { connectionOf, placeOf } from "./database-url.ts";
import { StoreFault } from "./store-faults.ts";

/**
 * Throws a `StoreFault` if a pooler gives each transaction another connection of the server, as PgBouncer does in
 * transaction mode: `search_path` and prepared statements are lost there, and every statement would fail.
 *
 * Two clients each make a setting for their session and read it several times. A pooler passes the connection of one
 * transaction to the next one, whether it takes the last one that was used or each in turn, so one of them soon reads the
 * other's setting or none.
 */
export async function requireSessions(databaseUrl: string): Promise<void> {
  const open = () =>
    new pg.Client({ ...connectionOf(databaseUrl), connectionTimeoutMillis: 10_000, query_timeout: 10_000 });
  const [first, second] = [
    { client: open(), value: randomUUID() },
    { client: open(), value: randomUUID() },
  ];
  for (const { client } of [first, second]) client.on("error", () => {});
  try {
    for (const { client } of [first, second]) await client.connect();
    for (const { client, value } of [first, second])
      await client.query("select set_config('intermission.session', $1, false)", [value]);
    for (const { client, value } of [first, first, second, first, second, second]) {
      const { rows } = await client.query<{ value: string | null }>(
        "select current_setting('intermission.session', true) as value",
      );
      if (rows[0]?.value !== value) throw noSessions(databaseUrl);
    }
  } finally {
    await Promise.all([first, second].map(({ client }) => client.end().catch(() => {})));
  }
}

function noSessions(databaseUrl: string): StoreFault {
  return new StoreFault(
    `the address of DATABASE_URL (${placeOf(databaseUrl)}) is a pooler that does not keep sessions: a setting of one transaction is gone in the next. ` +
      "Use its session mode (PgBouncer: pool_mode = session), or name the database server itself",
  );
}
