import pg from "pg";
import { retryConflicts } from "./run-transaction.ts";
import { activeSpan, inCommitSpan, type TracedItem } from "./trace-commits.ts";

/** The queue is full: nothing was written. A transport answers 503 with Retry-After. */
export class OverloadedError extends Error {
  override readonly name = "OverloadedError";
}

/** The connection broke around the commit, whose outcome is unknown. A transport answers 503; grouped writes are idempotent. */
export class CommitUnknownError extends Error {
  override readonly name = "CommitUnknownError";
}

interface GroupCommitsOptions<In, Out> {
  /** What is written, as `clicks`: the name of its span in traces. */
  readonly name: string;
  /** Writes a batch in one statement or transaction, commits, and returns one result for each item, in their order. */
  readonly run: (batch: readonly In[]) => Promise<Out[]>;
  /** Items with equal keys in one batch run once and share the result. */
  readonly mergeBy?: (item: In) => string;
  /** Items are passed to `run` in this order, so that two concurrent batches lock rows in one order. Default: `mergeBy`. */
  readonly orderBy?: (item: In) => string;
  /** Items with equal keys run one at a time, in their order of arrival. */
  readonly oneAtATimeBy?: (item: In) => string;
  readonly maxBatch?: number;
  /** Concurrent batches, 2 by default: a second one starts only with 64 items. */
  readonly maxInFlight?: 1 | 2;
  readonly maxQueued?: number;
}

export interface CommitGroup<In, Out> {
  /** Resolves after the commit that contains the item. */
  submit(item: In): Promise<Out>;
  /** Resolves when nothing is queued or under way. */
  drain(): Promise<void>;
}

interface Waiting<In, Out> extends TracedItem {
  readonly item: In;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

/** Resolves or rejects the promise of one item. */
type Answer = () => void;

/** Items with one key: only the first is passed to `run`. */
type MergedItems<In, Out> = [Waiting<In, Out>, ...Waiting<In, Out>[]];

/**
 * One batch in flight keeps both sides busy: while the database runs it, this process answers the callers of the last one,
 * whose next requests are the next batch. A second one helps when many wait. First clicks per second by 64 callers, by this
 * threshold: 7,500 with 16, 8,400 with 32, 9,700 with 48 and 64; by 24 or 256 callers it made no difference.
 */
const SECOND_BATCH_FROM = 64;

/**
 * A batch is at most half of the unanswered items, without those that wait for another one of their key. Else one batch may
 * take them all, and then the database waits while this process answers them, and this process while the database runs the
 * next: batches of 64 callers took turns as 60 and 4 for seconds, at two thirds of the rate of 32 and 32. A smaller limit
 * than this is not used.
 */
const MIN_BATCH = 8;

/**
 * Lets requests share commits: an item that arrives while nothing is under way is written immediately; items that arrive
 * meanwhile share one of the next commits. No timer delays them (a timer loses 24–61 %, measured).
 *
 * A data error (SQLSTATE class 22 or 23) splits the batch into halves, down to the single bad row; only that item rejects
 * with the error. One bad row of 500 costs some 20 statements.
 * Deadlocks and serialisation failures are retried. Any other failure rejects the whole batch with `CommitUnknownError`.
 */
export function groupCommits<In, Out>(options: GroupCommitsOptions<In, Out>): CommitGroup<In, Out> {
  const { oneAtATimeBy, maxBatch = 500, maxInFlight = 2, maxQueued = 20_000 } = options;
  const queue: Waiting<In, Out>[] = [];
  // Keys of items that are queued or under way, with the items that wait for them.
  const waitingByKey = new Map<string, Waiting<In, Out>[]>();
  const idle: (() => void)[] = [];
  let inFlight = 0;
  let waitingCount = 0;
  // Queued, under way, or committed but not yet answered.
  let unanswered = 0;

  function flush(): void {
    while (inFlight < maxInFlight && queue.length >= (inFlight === 0 ? 1 : SECOND_BATCH_FROM)) {
      inFlight += 1;
      const group = queue.splice(
        0,
        Math.min(maxBatch, Math.max(MIN_BATCH, Math.ceil((unanswered - waitingCount) / 2))),
      );
      void inCommitSpan(options.name, group, () => runGroup(group, options)).then((answers) => {
        inFlight -= 1;
        if (oneAtATimeBy !== undefined) for (const { item } of group) queueNextOf(oneAtATimeBy(item));
        // The database gets its next batch first: answering the callers takes longer than sending it.
        flush();
        setImmediate(() => {
          for (const answer of answers) answer();
          unanswered -= group.length;
          if (unanswered === 0) for (const resolve of idle.splice(0)) resolve();
        });
      });
    }
  }

  /** False if the item now waits for another item of its key. */
  function isFirstOfKey(key: string, waiting: Waiting<In, Out>): boolean {
    const waitingItems = waitingByKey.get(key);
    if (waitingItems === undefined) {
      waitingByKey.set(key, []);
      return true;
    }
    waitingItems.push(waiting);
    waitingCount += 1;
    return false;
  }

  function queueNextOf(key: string): void {
    const next = waitingByKey.get(key)?.shift();
    if (next === undefined) {
      waitingByKey.delete(key);
    } else {
      waitingCount -= 1;
      queue.push(next);
    }
  }

  return {
    submit(item) {
      if (queue.length + waitingCount >= maxQueued)
        return Promise.reject(new OverloadedError(`${maxQueued} writes are queued already`));
      unanswered += 1;
      return new Promise<Out>((resolve, reject) => {
        const waiting = { item, span: activeSpan(), resolve, reject };
        if (oneAtATimeBy !== undefined && !isFirstOfKey(oneAtATimeBy(item), waiting)) return;
        queue.push(waiting);
        // In the next turn, so that items from one burst of network data share a batch.
        if (queue.length === 1 || queue.length === SECOND_BATCH_FROM) setImmediate(flush);
      });
    },
    drain() {
      if (unanswered === 0) return Promise.resolve();
      return new Promise((resolve) => {
        idle.push(resolve);
      });
    },
  };
}

/** Runs a batch and returns the answers for its items. */
async function runGroup<In, Out>(group: Waiting<In, Out>[], options: GroupCommitsOptions<In, Out>): Promise<Answer[]> {
  try {
    return await runMerged(mergeEqual(group, options), options.run);
  } catch (error) {
    return group.map(({ reject }) => reject.bind(undefined, error));
  }
}

async function runMerged<In, Out>(
  merged: MergedItems<In, Out>[],
  run: GroupCommitsOptions<In, Out>["run"],
): Promise<Answer[]> {
  try {
    const batch = merged.map(([first]) => first.item);
    const results = await retryConflicts(async () => {
      const results = await run(batch);
      if (results.length !== batch.length) throw new Error(`${batch.length} items gave ${results.length} results`);
      return results;
    });
    return results.flatMap((result, index) =>
      (merged[index] ?? []).map(({ resolve }) => resolve.bind(undefined, result)),
    );
  } catch (error) {
    if (isDataError(error) && merged.length > 1) {
      // In sequence, so that the batch still counts as one under way.
      const half = Math.ceil(merged.length / 2);
      return [...(await runMerged(merged.slice(0, half), run)), ...(await runMerged(merged.slice(half), run))];
    }
    const answer = isDataError(error) ? error : unknownCommit(error);
    return merged.flat().map(({ reject }) => reject.bind(undefined, answer));
  }
}

function mergeEqual<In, Out>(
  group: Waiting<In, Out>[],
  { mergeBy, orderBy = mergeBy }: GroupCommitsOptions<In, Out>,
): MergedItems<In, Out>[] {
  const byKey = new Map<unknown, MergedItems<In, Out>>();
  for (const waiting of group) {
    const key = mergeBy ? mergeBy(waiting.item) : waiting;
    const mergedItems = byKey.get(key);
    if (mergedItems) mergedItems.push(waiting);
    else byKey.set(key, [waiting]);
  }
  const merged = [...byKey.values()];
  if (orderBy === undefined) return merged;
  const keyed = merged.map((mergedItems) => ({ mergedItems, key: orderBy(mergedItems[0].item) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ mergedItems }) => mergedItems);
}

/** Splits items into the fewest batches in which no key occurs twice; keeps their order. */
export function inRounds<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const rounds: Item[][] = [];
  const seen = new Map<string, number>();
  for (const item of items) {
    const key = keyOf(item);
    const round = seen.get(key) ?? 0;
    seen.set(key, round + 1);
    rounds[round] ??= [];
    rounds[round].push(item);
  }
  return rounds;
}

function isDataError(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    (error.code?.startsWith("22") === true || error.code?.startsWith("23") === true)
  );
}

function unknownCommit(error: unknown): CommitUnknownError {
  return new CommitUnknownError("the batch failed, and whether it was committed is unknown", { cause: error });
}
