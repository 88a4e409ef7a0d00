import { setTimeout as wait } from "node:timers/promises";

export interface BackgroundLoop {
  readonly health: LoopHealth;
  /** Starts no further round, and resolves when the current one has ended. May be called more than once. */
  stop(): Promise<void>;
}

/** What became of the rounds since the start of the process. */
interface LoopHealth {
  readonly done: number;
  readonly failed: number;
  /** Of `Date.now()`; undefined before the first round that ended well. */
  readonly lastDoneAt: number | undefined;
}

/**
 * Runs `round` again and again until stopped, one at a time. A round returns the milliseconds until the next one, 0 for
 * more work immediately; undefined stands for `everyMs`. A failed round goes to `onFault`, and the next one follows after
 * `everyMs`.
 */
export function startLoop(options: {
  readonly everyMs: number;
  /** Milliseconds before the first round; 0 by default. */
  readonly firstInMs?: number;
  /** The signal aborts when the loop is stopped: a round that waits for another party can give up. */
  readonly round: (stopping: AbortSignal) => Promise<number | undefined>;
  readonly onFault: (error: unknown) => void;
}): BackgroundLoop {
  const { everyMs, firstInMs = 0, round, onFault } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const health: { done: number; failed: number; lastDoneAt: number | undefined } = {
    done: 0,
    failed: 0,
    lastDoneAt: undefined,
  };

  async function run(): Promise<void> {
    let pauseMs = firstInMs;
    while (!signal.aborted) {
      if (pauseMs > 0) await wait(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        pauseMs = (await round(signal)) ?? everyMs;
        health.done += 1;
        health.lastDoneAt = Date.now();
      } catch (error) {
        health.failed += 1;
        onFault(error);
        pauseMs = everyMs;
      }
    }
  }

  const running = run();
  return {
    health,
    stop() {
      stopping.abort();
      return running;
    },
  };
}
