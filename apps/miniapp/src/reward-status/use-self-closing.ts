import { useEffect, useState } from "react";

const CLOSES_AFTER_MS = 3000;
const reducedMotion = "(prefers-reduced-motion: reduce)";
const touches = ["pointerdown", "keydown", "focusin", "wheel"];

let isOperatedWithoutPointer = false;

const notice = (event: Event): void => {
  // A click without a pointer comes from a key or from assistive technology.
  if (event.type === "keydown" || (event instanceof UIEvent && event.detail === 0)) isOperatedWithoutPointer = true;
};

/** Call it while the ad plays: keyboards and, where the browser shows it, screen readers switch the closing off. */
export function noticeInput(): void {
  addEventListener("keydown", notice, true);
  addEventListener("click", notice, true);
}

/**
 * Calls `onClose` after 3 s, unless the user touches the screen, presses a key or moves the focus. Never for users who want
 * less motion or operate without a pointer: they may need longer. True while it is about to.
 */
export function useSelfClosing(isEnabled: boolean, onClose: () => void): boolean {
  const [isKept, setKept] = useState(() => matchMedia(reducedMotion).matches);
  const isClosing = isEnabled && !isKept && !isOperatedWithoutPointer;
  useEffect(() => {
    if (!isClosing) return;
    const timer = setTimeout(onClose, CLOSES_AFTER_MS);
    const stop = new AbortController();
    const keep = () => setKept(true);
    for (const touch of touches) addEventListener(touch, keep, { capture: true, signal: stop.signal });
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [isClosing, onClose]);
  return isClosing;
}
