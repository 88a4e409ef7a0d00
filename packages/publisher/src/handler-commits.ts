/** One call of an event's handler. `owner` fences it: a run that takes the lease over writes another one. */
export interface Run {
  readonly eventId: string;
  readonly owner: string;
}

/** A handler that runs in this process. */
export interface Running extends Run {
  readonly until: number;
  readonly done: Promise<void>;
  /** Those that its handler began. */
  readonly commits: Promise<void>[];
  /** Whether a commit is under way or done: a handler has one. */
  hasCommit: boolean;
  isCommitted: boolean;
  /** A mistake that the handler's own promise need not report. */
  fault?: Error;
  /** Storing the event as handled, after a handler without a commit. */
  ending?: Promise<void>;
}

/** Waits for all commits of a handler, also for those that it does not wait for: without their effect, the event is not handled. */
export async function settleCommits(run: Running): Promise<void> {
  const outcomes = await Promise.allSettled(run.commits);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (!run.isCommitted && failed) throw failed.reason;
  if (run.fault) throw run.fault;
}

/** Refuses a second commit: its event is stored as handled with the first one, and a repeat would not run it. */
export function commitOnce(run: Running, commit: () => Promise<void>): Promise<void> {
  if (run.hasCommit) {
    run.fault ??= new Error(
      `commit() was called twice in the handler of ${run.eventId}: write everything in one commit(), which stores the event as handled`,
    );
    return Promise.reject(run.fault);
  }
  run.hasCommit = true;
  const committed = commit().catch((error: unknown) => {
    run.hasCommit = false;
    throw error;
  });
  // The run reports its error, also where the handler does not wait for it.
  committed.catch(() => {});
  run.commits.push(committed);
  return committed;
}

const MAX_ENDED = 1000;

/** Events whose handler ended without a commit, which something that it did not wait for may still begin. */
export class EndedRuns {
  readonly #eventIds = new Set<string>();

  add(eventId: string): void {
    const [oldest] = this.#eventIds.add(eventId);
    if (this.#eventIds.size > MAX_ENDED && oldest !== undefined) this.#eventIds.delete(oldest);
  }

  /** The event is stored as handled: refused, its effect would be lost. It is there once, unless the process ends in between. */
  async commitLate(eventId: string, write: () => Promise<unknown>): Promise<void> {
    if (!this.#eventIds.delete(eventId))
      throw new Error(`${eventId} is not being handled: call commit() inside the handler of its event`);
    console.warn(
      `commit() of ${eventId} came after its handler had ended, and a crash between the two loses the effect: return or await every promise in the handler`,
    );
    await write();
  }
}
