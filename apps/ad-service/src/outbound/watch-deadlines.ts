/** How late an exchange may be ended. One coarse timer for all costs less than two timers for each. */
const TICK_MS = 25;

export interface Watched {
  readonly signal: AbortSignal | undefined;
  /** Ends itself if it is late or too large. Called at each tick with `performance.now()` until it is removed. */
  check(now: number): void;
  /** Called when its signal aborts. */
  giveUp(reason: unknown): void;
}

export interface DeadlineWatch {
  add(watched: Watched): void;
  remove(watched: Watched): void;
}

/** Ends exchanges that are late, too large or aborted. The timer runs only while an exchange is in progress. */
export function watchDeadlines(): DeadlineWatch {
  const underWay = new Set<Watched>();
  const followed = new WeakSet<AbortSignal>();
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    const now = performance.now();
    for (const watched of underWay) watched.check(now);
    if (underWay.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  // One listener for each signal, not for each request: callers pass the same signal to hundreds of concurrent requests.
  function follow(signal: AbortSignal): void {
    followed.add(signal);
    const giveUp = () => {
      for (const watched of underWay) if (watched.signal === signal) watched.giveUp(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
  }

  return {
    add(watched) {
      underWay.add(watched);
      timer ??= setInterval(tick, TICK_MS);
      if (watched.signal && !followed.has(watched.signal)) follow(watched.signal);
    },
    remove: (watched) => void underWay.delete(watched),
  };
}
