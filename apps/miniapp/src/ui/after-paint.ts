/** Upper bound, because hidden pages are never painted. */
const LONGEST_MS = 100;

/** Calls back after the next paint, so that the visible response to a tap never waits for the following render. */
export function afterPaint(callback: () => void): void {
  let isDone = false;
  const once = () => {
    if (!isDone) callback();
    isDone = true;
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, LONGEST_MS);
}
