/** So many at once, the others in the order in which they came. */
export interface Slots {
  /** Resolves when there is room. */
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
      // The slot goes over to the next one.
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
