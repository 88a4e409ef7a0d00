import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";

// Connections whose conversation with the server may be out of step. They are closed instead of lent again.
const broken = new WeakSet<pg.ClientBase>();

/** Asks one question, and remembers when the answer was none of the server's. */
export async function ask(client: pg.ClientBase, question: string | pg.QueryConfig): Promise<pg.QueryResult> {
  try {
    return await client.query(question);
  } catch (error) {
    // An error that the server sent leaves the connection whole, except "I am going down" (57P0x).
    if (!(error instanceof pg.DatabaseError) || error.code?.startsWith("57P")) broken.add(client);
    throw error;
  }
}

export function giveBack(client: pg.PoolClient, { isUnsure = false } = {}): void {
  client.release(isUnsure || broken.has(client));
}

/** Lends connections to a Kysely: `connect` says which, `release` what becomes of them afterwards. */
export function poolForKysely(
  connect: () => Promise<pg.PoolClient>,
  release: (client: pg.PoolClient) => void,
): PostgresPool {
  return {
    options: {},
    async connect() {
      const client = await connect();
      const query = (text: string, values: unknown[]) => ask(client, { text, values });
      // Kysely's other way of asking, by cursor, is for `stream`, which nobody here uses.
      return { query, release: () => release(client) } as unknown as PostgresPoolClient;
    },
    async end() {},
  };
}
