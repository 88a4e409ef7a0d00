import { randomUUID } from "node:crypto";
import { decodeCursor, encodeCursor, epochOf, feedStart, placeOfCursor } from "@intermission/postgres/commit-cursor";
import { type Database, type Runner, statement } from "@intermission/postgres/open-database";
import type { Logger } from "@intermission/server/logger";
import { LostCursorError, type WatchedEntry, type WatchOutcome } from "../verbs.ts";
import { type EntryRow, entryColumns, rewardEntryOf } from "./rewards.ts";

/**
 * Wakes callers that wait for entries, on this node and on the others. It is only a hint: polling on a timer finds
 * every entry.
 */
export interface LedgerHint {
  /** Something was committed. */
  announce(): void;
  /** Resolves with true at the next announcement of any node; with false after `milliseconds`, or when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<boolean>;
  stop(): Promise<void>;
}

/** Each node announces at most twenty times a second. */
const APART_MS = 50;
const channel = "recorded";

/** Notices are sent after the commit and outside of it: inside, PostgreSQL would serialise commits. */
export async function ledgerHint(
  database: Pick<Database, "listen" | "notify">,
  logger: Pick<Logger, "debug">,
): Promise<LedgerHint> {
  const node = randomUUID();
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of [...waiting]) each();
  };
  const unlisten = await database.listen(channel, (from) => {
    if (from !== node) wake();
  });
  const announce = atMostOnceIn(APART_MS, async () => {
    wake();
    await database.notify(channel, node).catch((error: unknown) => logger.debug({ err: error }, "no notice was sent"));
  });

  return {
    announce: announce.now,
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        const end = (isHinted: boolean) => {
          clearTimeout(timer);
          waiting.delete(onHint);
          signal.removeEventListener("abort", onAbort);
          resolve(isHinted);
        };
        const onHint = () => end(true);
        const onAbort = () => end(false);
        const timer = setTimeout(onAbort, milliseconds);
        waiting.add(onHint);
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) onAbort();
      }),
    async stop() {
      await announce.stop();
      await unlisten();
    },
  };
}

/** Acts immediately, and once more afterwards for all calls in the meantime. */
function atMostOnceIn(milliseconds: number, act: () => Promise<void>) {
  let running: Promise<void> | undefined;
  let isRequested = false;
  let isStopped = false;
  let endPause = () => {};

  async function actWhileRequested(): Promise<void> {
    while (isRequested && !isStopped) {
      isRequested = false;
      await act();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
        if (isStopped) endPause();
      });
    }
    running = undefined;
  }

  return {
    now() {
      isRequested = true;
      if (!isStopped) running ??= actWhileRequested();
    },
    async stop() {
      isStopped = true;
      endPause();
      await running;
    },
  };
}

/** A bot needs one watch, and each one queries the database. */
const MAX_WATCHES_OF_BOT = 64;
export const MAX_WATCHES_OF_NODE = 1024;

/** Limits the concurrent watches on this node. A place is released when its watch ends, however it ends. */
export function limitWatches(limit = MAX_WATCHES_OF_BOT): (open: () => AsyncIterable<WatchedEntry>) => WatchOutcome {
  let watching = 0;
  return (open) => {
    if (watching >= limit) return { outcome: "too-many", limit };
    return { outcome: "watching", entries: counted(open) };
  };

  async function* counted(open: () => AsyncIterable<WatchedEntry>): AsyncGenerator<WatchedEntry> {
    watching += 1;
    try {
      yield* open();
    } finally {
      watching -= 1;
    }
  }
}

const PAGE_SIZE = 200;

const MIN_PAUSE_MS = 25;
const MAX_PAUSE_MS = 1000;

// Ends before the oldest transaction that is still running: its entries will sort after this page.
const nextPage = statement<EntryRow>(
  "ledger.watch",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and (xid, entry_id) > ($2::xid8, $3::bigint) and xid < settled_xid()
order by xid, entry_id limit ${PAGE_SIZE}`,
);

const endOfLedger = statement<{ epoch: string; xid: string }>(
  "ledger.end",
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
export async function latestCursor(runner: Pick<Runner, "run">): Promise<string> {
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
  runner: Pick<Runner, "run">,
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
  let pauseMs = MAX_PAUSE_MS;
  while (!signal.aborted) {
    const rows = await runner.run(nextPage, [botId, xid, id]);
    for (const row of rows) {
      if (signal.aborted) return;
      xid = row.xid;
      id = String(row.entryId);
      // Filtered here: a condition in the statement would read them again each time.
      if (isTest(row) && !includeTests) continue;
      yield { cursor: encodeCursor({ epoch: row.epoch, xid, id }), entry: rewardEntryOf(row) };
    }
    if (rows.length === PAGE_SIZE) continue;
    const isHinted = await waitForMore(pauseMs);
    pauseMs = isHinted ? MIN_PAUSE_MS : Math.min(2 * pauseMs, MAX_PAUSE_MS);
  }
}
