import { type MouseEvent, useState } from "react";

const DOUBLE_CLICK_MS = 500;

/** Detects the second click of a double click when the first one has already changed the screen. */
export function useStrayClick(): (event: MouseEvent) => boolean {
  const [shownAt] = useState(() => performance.now());
  return ({ detail }) => detail > 1 && performance.now() - shownAt < DOUBLE_CLICK_MS;
}
