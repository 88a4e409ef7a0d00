import { callHandler } from "./call-handler.ts";
import { requireMilliseconds, requireOptions } from "./client-settings.ts";
import { type Companion, CompanionError, type RewardEntry } from "./create-companion.ts";
import { type EventStore, eventKey } from "./memory-store.ts";
import { inTime, LateError, pause } from "./pause.ts";
import type { CursorStore } from "./reconcile.ts";

export interface FollowOptions {
  /** Ends following; the entry that is being handled is finished. */
  readonly signal: AbortSignal;
  /** Also test events, which pay nothing. */
  readonly includeTests?: boolean | undefined;
  /**
   * Remembers what was handled, so that nothing is handled twice: after a crash, or when the ledger was restored from a backup
   * older than the cursor and is read from its start. It knows an entry by its `eventId`: a restored ledger gives the `entryId`
   * of a lost entry to another one, and records the lost event again. What it has forgotten is handled again: take one that
   * remembers all. Without it, `handle` must ignore events that it knows.
   */
  readonly store?: EventStore | undefined;
  /**
   * The longest that an entry waits for its handler and its cursor; 60 s by default. Then `onError` is called, and the entry
   * waits again: `handle` runs on, and is called a second time only if it is not done after 10 minutes. Later entries wait.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /** Called when the connection or `handle` fails, or `handle` is late; then the API is asked again. Logs by default. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** A handler that is not done after so long never ends. */
const MAX_HANDLER_MS = 600_000;
/** Answers of the API after which trying again does not help. */
const finalCodes = ["UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "BAD_REQUEST"];

/**
 * An entry that an event made. Its amount is 0, with a reason, if the event paid nothing. `task_reversed` takes back what a `task`
 * earned: its amount is negative.
 */
export type Reward = RewardEntry & { readonly event: NonNullable<RewardEntry["event"]> };

/**
 * Calls `handle` for each reward in commit order, also for those recorded while this process or the API was down, and
 * reconnects. Spends are left out: {@link followLedger} has them. The cursor is written after each entry: after a crash the
 * last entry may be handled twice, and an entry whose `handle` rejected is handled again before later ones. Of several processes
 * that follow, each handles every entry, unless they share a persistent `store`.
 *
 * Resolves when the signal aborts. Rejects only if the API refuses the key or the request.
 */
export function followRewards(
  companion: Pick<Companion, "watchRewards">,
  cursors: CursorStore,
  handle: (reward: Reward) => Promise<void> | void,
  options: FollowOptions,
): Promise<void> {
  return follow(
    companion,
    cursors,
    (entry) => (isReward(entry) ? () => callHandler(handle, entry) : undefined),
    options,
  );
}

/**
 * As {@link followRewards}, for every entry of the ledger: rewards, and spends, whose `event` is null and whose amount is
 * negative. Give each of the two a store and cursors of its own.
 */
export function followLedger(
  companion: Pick<Companion, "watchRewards">,
  cursors: CursorStore,
  handle: (entry: RewardEntry) => Promise<void> | void,
  options: FollowOptions,
): Promise<void> {
  return follow(companion, cursors, (entry) => () => callHandler(handle, entry), options);
}

function isReward(entry: RewardEntry): entry is Reward {
  return entry.event !== null;
}

/** `handlerOf` returns undefined for an entry that is passed over. */
async function follow(
  companion: Pick<Companion, "watchRewards">,
  cursors: CursorStore,
  handlerOf: (entry: RewardEntry) => (() => Promise<void>) | undefined,
  options: FollowOptions,
): Promise<void> {
  requireOptions(options?.signal, "followRewards(companion, cursors, handle, { signal })");
  const { signal, includeTests = false, store, handlerTimeoutMs = 60_000 } = options;
  requireMilliseconds({ handlerTimeoutMs });
  const { onError = (error) => console.error("following rewards:", error) } = options;
  let pauseMs = FIRST_PAUSE_MS;
  /** Returns whether the work succeeded. An error of the caller's own code says nothing about the API, whatever its code. */
  async function attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      report(onError, error);
      return false;
    }
  }

  const keyOf = (entry: RewardEntry) => eventKey(entry) ?? entry.entryId;
  let late: { readonly key: string; readonly until: number; readonly done: Promise<void> } | undefined;
  async function handleAndKeepPlace(cursor: string, entry: RewardEntry): Promise<void> {
    const handle = handlerOf(entry);
    if (handle && store) await store.once(keyOf(entry), handle);
    else await handle?.();
    await cursors.write(cursor);
  }
  /** Waits again for a handler that was late, whether it is done meanwhile or not. */
  async function handleInTime(cursor: string, entry: RewardEntry): Promise<void> {
    const key = keyOf(entry);
    const isKnown = late?.key === key && performance.now() < late.until;
    const run =
      isKnown && late
        ? late
        : { key, until: performance.now() + MAX_HANDLER_MS, done: handleAndKeepPlace(cursor, entry) };
    late = undefined;
    await inTime(run.done, handlerTimeoutMs, `the handler of the ledger's entry ${entry.entryId}`).catch(
      (error: unknown) => {
        if (error instanceof LateError) late = run;
        throw error;
      },
    );
  }

  while (!signal.aborted) {
    try {
      const after = (await cursors.read()) || undefined;
      for await (const { cursor, entry } of companion.watchRewards({ after, includeTests }, { signal })) {
        if (signal.aborted) return;
        if (!(await attempt(() => handleInTime(cursor, entry)))) break;
        pauseMs = FIRST_PAUSE_MS;
      }
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof CompanionError ? error.code : "";
      if (finalCodes.includes(code)) throw error;
      // The ledger is older than the cursor: reading from the start misses no entry, and `store` keeps repeats out.
      if (code === "PRECONDITION_FAILED") await attempt(async () => cursors.write(undefined));
      report(onError, error);
    }
    await pause(pauseMs, signal).catch(() => {});
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  }
}

/** An error of `onError` itself is logged and ends nothing. */
function report(onError: (error: unknown) => void, error: unknown): void {
  (async () => onError(error))().catch((fault: unknown) => {
    console.error("onError of followRewards failed:", fault, "while it reported:", error);
  });
}
