import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";

// Connections whose protocol state may be out of sync with the server. They are closed instead of reused.
const broken = new WeakSet<pg.ClientBase>();

/** Runs one query, and marks the connection as broken after an error that the server did not send. */
export async function ask(client: pg.ClientBase, question: string | pg.QueryConfig): Promise<pg.QueryResult> {
  try {
    return await client.query(question);
  } catch (error) {
    // After an error from the server the connection is usable, except after a shutdown (57P0x).
    if (!(error instanceof pg.DatabaseError) || error.code?.startsWith("57P")) broken.add(client);
    throw error;
  }
}

export function giveBack(client: pg.PoolClient, { isUnsure = false } = {}): void {
  client.release(isUnsure || broken.has(client));
}

/** A pool for Kysely: `connect` returns a connection, and `release` takes it back. */
export function poolForKysely(
  connect: () => Promise<pg.PoolClient>,
  release: (client: pg.PoolClient) => void,
): PostgresPool {
  return {
    options: {},
    async connect() {
      const client = await connect();
      const query = (text: string, values: unknown[]) => ask(client, { text, values });
      // Kysely needs cursors only for `stream`, which this project does not use.
      return { query, release: () => release(client) } as unknown as PostgresPoolClient;
    },
    async end() {},
  };
}
