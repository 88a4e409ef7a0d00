import { useLayoutEffect } from "react";

/** Sets the screen's state as `data-state` of the root element, for styles and tests. */
export function useStateName(name: string): void {
  useLayoutEffect(() => {
    document.documentElement.dataset.state = name;
  }, [name]);
}
