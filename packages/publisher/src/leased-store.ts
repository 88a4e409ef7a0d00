import { requireMilliseconds } from "./client-settings.ts";
import { commitOnce, EndedRuns, type Run, type Running, settleCommits } from "./handler-commits.ts";
import { type EventStore, eventKey, type HandledFacts } from "./memory-store.ts";

/** The event or the entry of a ledger that a handler got, or the key that `once` was called with. */
export type HandledEvent = string | HandledFacts;

/** Where the leases of events, and which events were handled, are stored. Each function is atomic. */
export interface Leases {
  /** Leases the event to the run, unless it was handled or another run has a lease that is not over. */
  claim(run: Run): Promise<"claimed" | "leased" | "handled">;
  /** Stores the event as handled. False, and nothing is stored, if another run took the lease over. */
  finish(run: Run): Promise<boolean>;
  /** Ends the lease of a run that failed, if it is still the run's. */
  release(run: Run): Promise<unknown>;
}

export interface LeaseOptions {
  readonly leaseMs: number;
  /** How long an event waits while another process handles it, before it rejects. */
  readonly busyMs?: number | undefined;
}

/** What a store in a database is made with. */
export interface TableOptions {
  readonly table?: string | undefined;
  readonly leaseMs?: number | undefined;
}

export interface LeasedStore extends EventStore {
  /**
   * `finish` stores the event's effect and marks the event as handled, in one transaction. `run` is undefined if the event has neither an id nor
   * a code. `finish` resolves to false if another run took the lease over.
   */
  commit(event: HandledEvent, finish: (run: Run | undefined) => Promise<boolean>): Promise<void>;
}

/** Repeats are not counted: they wait for the same run. */
const MAX_RUNNING = 1000;
const POLL_MS = 20;
/** Together shorter than the ad service waits for an answer. */
const FINISH_PAUSES_MS = [100, 300, 900, 2700];

/**
 * Runs each event's handler under a lease. Repeats in this process wait for the run until its lease is over; then one of them
 * begins another run, and the first run can store nothing any more. In this process, time is that of a clock that nobody sets.
 */
export function leasedStore(leases: Leases, options: LeaseOptions): LeasedStore {
  const { leaseMs, busyMs } = options;
  requireMilliseconds({ leaseMs });
  requireMilliseconds({ busyMs }, { min: 0 });
  const running = new Map<string, Running>();
  const ended = new EndedRuns();

  async function finish(run: Running, store: (run: Run) => Promise<boolean>): Promise<void> {
    if (!(await store(run))) {
      const lost = `${run.eventId} is handled by another call, since its lease of ${leaseMs} ms is over`;
      throw new Error(`${lost}: make the handler faster, or leaseMs longer`);
    }
    run.isCommitted = true;
  }

  async function handleClaimed(run: Running, handle: () => Promise<void>): Promise<void> {
    if (!(await claim(leases, run, options))) return;
    try {
      await handle();
      // Once more for those that began meanwhile.
      for (let settled = -1; settled < run.commits.length; ) {
        settled = run.commits.length;
        await settleCommits(run);
      }
    } catch (error) {
      // Where this fails, the lease ends by itself.
      if (!run.isCommitted) await leases.release(run).catch(() => {});
      throw error;
    }
    if (run.isCommitted) return;
    run.ending = finish(run, finishAgain(leases)).then(() => ended.add(run.eventId));
    await run.ending;
  }

  return {
    once(eventId, handle) {
      const known = running.get(eventId);
      if (known !== undefined && performance.now() < known.until) return known.done;
      if (running.size >= MAX_RUNNING) {
        for (const [id, { until }] of running) if (performance.now() >= until) running.delete(id);
        if (running.size >= MAX_RUNNING)
          return Promise.reject(new Error(`${MAX_RUNNING} events wait for their handler`));
      }
      const { promise, resolve } = withResolver();
      const run: Running = {
        eventId,
        owner: crypto.randomUUID(),
        until: performance.now() + leaseMs,
        done: promise,
        commits: [],
        hasCommit: false,
        isCommitted: false,
      };
      running.set(eventId, run);
      resolve(
        handleClaimed(run, handle).finally(() => {
          if (running.get(eventId) === run) running.delete(eventId);
        }),
      );
      return promise;
    },
    commit(event, store) {
      const eventId = typeof event === "string" ? event : eventKey(event);
      const run = eventId === undefined ? undefined : running.get(eventId);
      // Without an id, nothing recognizes a repeat, and no store was asked.
      if (eventId === undefined) return store(undefined).then(() => {});
      const late = () => ended.commitLate(eventId, () => store(undefined));
      if (run === undefined) return late();
      return run.ending ? run.ending.then(late) : commitOnce(run, () => finish(run, store));
    },
  };
}

/**
 * The effect is there: a store that cannot be reached for a moment, as at the failover of a database, must not have it made again.
 * An attempt whose answer was lost makes the next one return false, and the event counts as handled.
 */
function finishAgain(leases: Leases): (run: Run) => Promise<boolean> {
  return async (run) => {
    for (const pauseMs of FINISH_PAUSES_MS) {
      try {
        return await leases.finish(run);
      } catch {
        await wait(pauseMs);
      }
    }
    return leases.finish(run);
  };
}

/** Returns false if the event was handled before. */
async function claim(leases: Leases, run: Run, { leaseMs, busyMs = 0 }: LeaseOptions): Promise<boolean> {
  const until = performance.now() + busyMs;
  for (;;) {
    const state = await leases.claim(run);
    if (state !== "leased") return state === "claimed";
    if (performance.now() >= until) {
      const reason = "is being handled by another process, or by one that crashed";
      throw new Error(`${run.eventId} ${reason}: it is handled again when its lease of ${leaseMs} ms is over`);
    }
    await wait(POLL_MS);
  }
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolver() {
  let resolve: (value: void | Promise<void>) => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

export function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A table's name becomes a part of the store's SQL. */
export function requireTableName(table: string, pattern = /^[a-z_][a-z0-9_]*$/i): void {
  if (!pattern.test(table)) throw new Error(`"${table}" is not a table name`);
}
