import { useEffect, useRef } from "react";

/** How long `g` waits for its letter. */
export const LETTER_MS = 1500;

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable], dialog") !== null;
}

/**
 * Single letters that act on what a screen shows. A letter after `g` leads to a section, and is no such key; nor is one in a
 * field or a dialog, one with a modifier, and one that is held down.
 */
export function useKeys(actions: Readonly<Record<string, () => void>>): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  useEffect(() => {
    let pressedG = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isOfSection = event.timeStamp - pressedG < LETTER_MS;
      pressedG = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (isOfSection || event.repeat || !Object.hasOwn(latest.current, event.key)) return;
      event.preventDefault();
      latest.current[event.key]?.();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
