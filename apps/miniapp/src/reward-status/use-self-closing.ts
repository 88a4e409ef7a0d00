import { useEffect, useState } from "react";

const CLOSES_AFTER_MS = 3000;
const reducedMotion = "(prefers-reduced-motion: reduce)";
/** Any sign that somebody still reads. Assistive technology moves the focus or presses keys; nothing else reveals it. */
const touches = ["pointerdown", "touchstart", "keydown", "focusin", "wheel"];

/** Calls `onClose` after 3 s, unless the user touches the screen or prefers less motion. True while it is about to. */
export function useSelfClosing(isWanted: boolean, onClose: () => void): boolean {
  const [isKept, setKept] = useState(() => matchMedia(reducedMotion).matches);
  const isClosing = isWanted && !isKept;
  useEffect(() => {
    if (!isClosing) return;
    const timer = setTimeout(onClose, CLOSES_AFTER_MS);
    const stop = new AbortController();
    const keep = () => setKept(true);
    for (const touch of touches) window.addEventListener(touch, keep, { capture: true, signal: stop.signal });
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [isClosing, onClose]);
  return isClosing;
}
