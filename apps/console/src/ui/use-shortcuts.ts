import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

/** How long `g` waits for its letter. */
const LETTER_MS = 1500;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** A window or a menu is open, wherever the focus is. */
const isSomethingOpen = () => document.querySelector("dialog[open], :popover-open") !== null;

/**
 * The key of a shortcut: the Latin letter that stands on it where the keyboard writes another script, as Russian readers have it
 * switched on.
 */
export function shortcutKey({ key, code }: Pick<KeyboardEvent, "key" | "code">): string {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  const isOtherScript = /^\p{L}$/u.test(key) && !/^\p{Script=Latin}$/u.test(key);
  return letter !== undefined && isOtherScript ? letter.toLowerCase() : key;
}

type Actions = Readonly<Record<string, () => void>>;

/**
 * Single keys that act: at once, or as the second one after `g`. The only way to have such keys. They are off while anything
 * is open or on its way (a window, a menu, the next screen), in fields, with a modifier, and while a key is held down.
 */
export function useShortcuts({ keys = {}, afterG = {} }: { keys?: Actions; afterG?: Actions }): void {
  const router = useRouter();
  const latest = useRef({ keys, afterG });
  useEffect(() => {
    latest.current = { keys, afterG };
  });
  useEffect(() => {
    let pressedG = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
      if (event.defaultPrevented || isTyping(event.target) || isSomethingOpen()) return;
      const key = shortcutKey(event);
      const isSecond = event.timeStamp - pressedG < LETTER_MS;
      pressedG = key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const actions = isSecond ? latest.current.afterG : latest.current.keys;
      // Until the next screen is there, the keys of this one are not meant.
      if (!Object.hasOwn(actions, key) || (!isSecond && router.state.isLoading)) return;
      event.preventDefault();
      actions[key]?.();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [router]);
}
