import { useEffect, useLayoutEffect, useState } from "react";

/** This device's time, updated every `intervalMs`. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}

/** Sets the screen's state as `data-state` of the root element, for styles and tests. */
export function useStateName(name: string): void {
  useLayoutEffect(() => {
    document.documentElement.dataset.state = name;
  }, [name]);
}

const DOUBLE_CLICK_MS = 500;

/** Detects the second click of a double click when the first one has already changed the screen. */
export function useStrayClick(): (event: { readonly detail: number }) => boolean {
  const [shownAt] = useState(() => performance.now());
  return ({ detail }) => detail > 1 && performance.now() - shownAt < DOUBLE_CLICK_MS;
}
