import { type Database, statement } from "@intermission/postgres/open-database";
import { expect } from "vitest";

const marked = statement<{ xid: string }>("test.mark-transaction", "select pg_current_xact_id()::text as xid");
const isPast = statement<{ past: boolean }>(
  "test.is-past",
  "select pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 as past",
);

/**
 * Waits until feeds show everything that is committed now: transactions that are open anywhere on the server delay them, also
 * those of other tests in other databases.
 */
export async function untilFeedsAreCurrent(database: Database): Promise<void> {
  const [mark] = await database.run(marked, []);
  const past = async () => (await database.run(isPast, [mark?.xid]))[0]?.past;
  await expect.poll(past, { timeout: 60_000, interval: 10 }).toBe(true);
}
