import { useEffect, useState } from "react";

/** How long the reader may pause while typing. */
const TYPING_MS = 200;

/** What is typed, after a short pause: so that not each letter is a request. */
export function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
