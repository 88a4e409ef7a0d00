import { decodeCursor, encodeCursor, epochOf, feedStart, placeOfCursor } from "@intermission/postgres/commit-cursor";
import { type Runner, statement } from "@intermission/postgres/open-database";
import { type EntryRow, entryColumns, rewardEntryOf } from "./rows.ts";
import { LostCursorError, type WatchedEntry } from "./schema.ts";

const pageSize = 200;

const shortestPauseMs = 25;
const longestPauseMs = 1000;

// Ends before the oldest transaction that is still running: its entries will sort after this page.
const nextPage = statement<EntryRow>(
  "watch-rewards",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and (xid, entry_id) > ($2::xid8, $3::bigint) and xid < settled_xid()
order by xid, entry_id limit ${pageSize}`,
);

const endOfLedger = statement<{ epoch: string; xid: string }>(
  "end-of-ledger",
  `select ${epochOf("settled.xid")} as epoch, xid from (select settled_xid() as xid) as settled`,
);

/** Spends are never tests: their reason is a free note. */
function isTest({ event, reason }: EntryRow): boolean {
  return event !== null && reason === "test";
}

/** Sorts before every entry. */
export const startOfLedger = encodeCursor({ ...feedStart, id: "0" });

/** Whether a cursor can come from this ledger. */
export function isLedgerCursor(text: string): boolean {
  return /^(0|[1-9]\d{0,17})$/.test(decodeCursor(text)?.id ?? "");
}

/** A position before everything that will commit after this call. */
export async function latestCursor(runner: Pick<Runner<unknown>, "run">): Promise<string> {
  const [row] = await runner.run(endOfLedger, []);
  if (!row) throw new Error("the end of the ledger could not be read");
  return encodeCursor({ ...row, id: "0" });
}

/**
 * Each entry once, in commit order, from the cursor on and then live, until the signal aborts. Entries of test events
 * pay nothing, and are included only on request.
 * `waitForMore` may return early, with true, as a hint that something was recorded; polling on its timer ensures that
 * nothing is missed. After a hint it is polled soon and then at growing intervals: an entry is visible only when every
 * transaction that began before it has ended. Throws a `LostCursorError` for a cursor from a time that this ledger does
 * not contain.
 */
export async function* watchRewards(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  { from, includeTests }: { from: string; includeTests: boolean },
  signal: AbortSignal,
  waitForMore: (milliseconds: number) => Promise<boolean>,
): AsyncGenerator<WatchedEntry> {
  const start = decodeCursor(from);
  if (!start) throw new Error("the cursor was not checked");
  const place = await placeOfCursor(runner, start, { lowestId: "0" });
  if (place.outcome === "unknown-epoch") throw new LostCursorError("the ledger is older than this cursor");
  let { xid, id } = place;
  let pauseMs = longestPauseMs;
  while (!signal.aborted) {
    const rows = await runner.run(nextPage, [botId, xid, id]);
    for (const row of rows) {
      if (signal.aborted) return;
      xid = row.xid;
      id = String(row.entry_id);
      // Filtered here: a condition in the statement would read them again each time.
      if (isTest(row) && !includeTests) continue;
      yield { cursor: encodeCursor({ epoch: row.epoch, xid, id }), entry: rewardEntryOf(row) };
    }
    if (rows.length === pageSize) continue;
    const isHinted = await waitForMore(pauseMs);
    pauseMs = isHinted ? shortestPauseMs : Math.min(2 * pauseMs, longestPauseMs);
  }
}
