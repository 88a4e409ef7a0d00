import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import type { Transaction } from "./database.ts";
import { ask, giveBack, poolForKysely } from "./lend-client.ts";

/** One attempt of `Database.transaction`, with its guarantees. Releases the connection. */
export async function runTransaction<Tables, T>(
  client: pg.PoolClient,
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const loan = transactionOn<Tables>(client);
  let isUnsure = false;
  try {
    await ask(client, "begin");
    const result = await work(loan.tx);
    loan.end();
    const { command } = await ask(client, "commit");
    // After a failed statement PostgreSQL answers COMMIT with ROLLBACK, without an error.
    if (command !== "COMMIT")
      throw new Error("nothing was committed: the transaction continued after a failed statement");
    return result;
  } catch (error) {
    loan.end();
    await ask(client, "rollback").catch(() => {
      isUnsure = true;
    });
    throw error;
  } finally {
    giveBack(client, { isUnsure });
  }
}

function transactionOn<Tables>(client: pg.PoolClient): { tx: Transaction<Tables>; end(): void } {
  let isOver = false;
  let query: Kysely<Tables> | undefined;
  // After the end another caller has the connection: a late statement would run in that caller's transaction.
  const lend = () => {
    if (isOver) throw new Error("a statement came after the end of its transaction");
    return client;
  };
  const tx: Transaction<Tables> = {
    // Made on first use, since most transactions only run prepared statements.
    get query() {
      query ??= new Kysely({
        dialect: new PostgresDialect({
          pool: poolForKysely(
            async () => lend(),
            () => {},
          ),
        }),
      });
      return query;
    },
    run: async ({ name, text }, values) => (await ask(lend(), { name, text, values: [...values] })).rows,
  };
  return {
    tx,
    end() {
      isOver = true;
    },
  };
}
