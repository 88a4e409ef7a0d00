import { useLayoutEffect } from "react";

/** Names what is on the screen on the page itself, for styles and for tests. */
export function useStateName(name: string): void {
  useLayoutEffect(() => {
    document.documentElement.dataset.state = name;
  }, [name]);
}
