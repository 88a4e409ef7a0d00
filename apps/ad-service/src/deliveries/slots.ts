/** A limit on concurrent work; waiting callers are served in the order of their calls. */
export interface Slots {
  /** Resolves when a slot is free. */
  take(): Promise<void>;
  free(): void;
  /** Lets all callers through from now on: a stop must not wait for a slot. */
  open(): void;
}

export function openSlots(number: number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  let isOpen = false;
  return {
    async take() {
      if (isOpen || taken < number) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    free() {
      // The slot passes to the next waiter.
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    },
    open() {
      isOpen = true;
      for (const next of waiting.splice(0)) {
        taken += 1;
        next();
      }
    },
  };
}
