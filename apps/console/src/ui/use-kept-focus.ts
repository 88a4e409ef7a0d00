import { type FocusEvent, type RefObject, useEffect, useRef } from "react";

/**
 * For a group of buttons that go once they have done their work: the focus of one that is gone goes to `next`, instead of the
 * start of the page. Spread what it returns on an element around them.
 */
export function useKeptFocus(next: RefObject<HTMLElement | null>) {
  const focused = useRef<Element>(undefined);
  useEffect(() => {
    if (focused.current === undefined || focused.current.isConnected) return;
    // A window that closes may have given the focus back.
    const { activeElement } = document;
    focused.current = undefined;
    if (activeElement === null || activeElement === document.body) next.current?.focus();
    else focused.current = activeElement;
  });
  return {
    onFocus: ({ target }: FocusEvent) => {
      focused.current = target;
    },
    onBlur: () => {
      focused.current = undefined;
    },
  };
}
