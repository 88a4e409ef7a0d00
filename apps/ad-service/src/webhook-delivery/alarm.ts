/** Lets one waiter sleep until somebody rings. A ring while nobody waits ends the next wait at once: none is lost. */
export interface Alarm {
  ring(): void;
  hasRung(): boolean;
  wait(milliseconds: number): Promise<void>;
}

export function newAlarm(): Alarm {
  let hasRung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      hasRung = true;
      wake?.();
    },
    hasRung: () => hasRung,
    async wait(milliseconds) {
      if (!hasRung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, milliseconds);
        await promise;
        clearTimeout(timer);
        wake = undefined;
      }
      hasRung = false;
    },
  };
}
