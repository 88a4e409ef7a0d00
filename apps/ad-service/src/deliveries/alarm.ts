/** Lets one waiter sleep until `ring` is called. A ring without a waiter ends the next wait immediately, so none is lost. */
interface Alarm {
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
