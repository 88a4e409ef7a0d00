import { useEffect, useRef } from "react";

/** How long `g` waits for its letter. */
export const LETTER_MS = 1500;

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable], dialog") !== null;
}

/**
 * The key of a shortcut: the Latin letter that stands on it where the keyboard writes another script, as Russian readers have it
 * switched on.
 */
export function shortcutKey({ key, code }: Pick<KeyboardEvent, "key" | "code">): string {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  const isOtherScript = /^\p{L}$/u.test(key) && !/^\p{Script=Latin}$/u.test(key);
  return letter !== undefined && isOtherScript ? letter.toLowerCase() : key;
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
      const key = shortcutKey(event);
      const isOfSection = event.timeStamp - pressedG < LETTER_MS;
      pressedG = key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (isOfSection || event.repeat || !Object.hasOwn(latest.current, key)) return;
      event.preventDefault();
      latest.current[key]?.();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
