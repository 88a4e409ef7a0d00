import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";

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
