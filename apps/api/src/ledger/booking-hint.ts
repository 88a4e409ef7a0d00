/** Wakes those who wait for entries. A hint alone: whoever waits also asks again on a timer, which is the truth. */
export interface BookingHint {
  /** Something was committed. */
  announce(): void;
  /** Resolves at the next announcement, after `milliseconds`, or when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export function bookingHint(): BookingHint {
  const waiting = new Set<() => void>();
  return {
    announce() {
      for (const wake of waiting) wake();
    },
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          waiting.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const timer = setTimeout(wake, milliseconds);
        waiting.add(wake);
        signal.addEventListener("abort", wake, { once: true });
        if (signal.aborted) wake();
      }),
  };
}
