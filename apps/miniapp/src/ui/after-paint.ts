/** Pages that are not on the screen are never painted. */
const LONGEST_MS = 100;

/** Calls back once the screen shows what a tap did to it already, so that its answer never waits for what is drawn next. */
export function afterPaint(callback: () => void): void {
  let isDone = false;
  const once = () => {
    if (!isDone) callback();
    isDone = true;
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, LONGEST_MS);
}
