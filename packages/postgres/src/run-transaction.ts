import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import type { Transaction } from "./database.ts";

/**
 * Runs work that ends with one commit, and retries it (three times at most) when the database rolled it back: after a
 * deadlock (40P01) or a serialisation failure (40001). The waits are random, so that the same two do not collide again.
 */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt > 3 || !isConflict(error)) throw error;
      await wait(Math.random() * 5 * 2 ** attempt);
    }
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40P01" || error.code === "40001");
}

// Connections whose protocol state may be out of sync with the server, or that serve no more. They are closed instead of reused.
const broken = new WeakSet<pg.ClientBase>();

const errorsOfStore = new WeakSet<object>();

/** Marks an error as one of a connection or statement of this package. */
export function ofStore(error: unknown): void {
  if (error instanceof Error) errorsOfStore.add(error);
}

export function isOfStore(error: Error): boolean {
  return errorsOfStore.has(error);
}

/**
 * A connection is not used after these errors from the server: a shutdown (57P0x), and a write in a read-only session (25006),
 * which stays read-only when the server or its provider allows writes again.
 */
const ENDED = /^(57P|25006$)/;

/** Runs one query, and marks the connection as broken after an error that the server did not send, or that ended its use. */
export async function ask(client: pg.ClientBase, question: string | pg.QueryConfig): Promise<pg.QueryResult> {
  try {
    return await client.query(question);
  } catch (error) {
    ofStore(error);
    if (!(error instanceof pg.DatabaseError) || ENDED.test(error.code ?? "")) broken.add(client);
    throw error;
  }
}

export function giveBack(client: pg.PoolClient, { isUnsure = false } = {}): void {
  client.release(isUnsure || broken.has(client));
}

/** One attempt of `Database.transaction`, with its guarantees. Releases the connection. */
export async function runTransaction<T>(
  client: pg.PoolClient,
  work: (tx: Transaction) => Promise<T>,
  { begin = "begin" } = {},
): Promise<T> {
  const loan = transactionOn(client);
  let isUnsure = false;
  try {
    await ask(client, begin);
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

function transactionOn(client: pg.PoolClient): { tx: Transaction; end(): void } {
  let isOver = false;
  // After the end another caller has the connection: a late statement would run in that caller's transaction.
  const lend = () => {
    if (isOver) throw new Error("a statement came after the end of its transaction");
    return client;
  };
  const tx: Transaction = {
    run: async ({ name, text }, values) => (await ask(lend(), { name, text, values: [...values] })).rows,
  };
  return {
    tx,
    end() {
      isOver = true;
    },
  };
}
