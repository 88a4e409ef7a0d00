import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import type { Transaction } from "./database.ts";
import { ask, giveBack, poolForKysely } from "./lend-client.ts";

/** One attempt: see `Database.transaction` for what it promises. Gives the connection back. */
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
    // PostgreSQL answers COMMIT with ROLLBACK after a failed statement, and calls that no error.
    if (command !== "COMMIT") throw new Error("nothing was committed: work went on after one of its statements failed");
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
  // Afterwards the connection belongs to another caller: a late statement would run in that caller's transaction.
  const lend = () => {
    if (isOver) throw new Error("a statement came after the end of its transaction");
    return client;
  };
  const tx: Transaction<Tables> = {
    // Made when it is asked for: most transactions run prepared statements only.
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
