import { type MouseEvent, useState } from "react";

const DOUBLE_CLICK_MS = 500;

/** Tells the second click of a double click that was meant for what stood here before: screens change under a quick finger. */
export function useStrayClick(): (event: MouseEvent) => boolean {
  const [shownAt] = useState(() => performance.now());
  return ({ detail }) => detail > 1 && performance.now() - shownAt < DOUBLE_CLICK_MS;
}
