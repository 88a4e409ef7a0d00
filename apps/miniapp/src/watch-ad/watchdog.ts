/** What to do about a video that should be playing. A stalled download fires no `error`, so only the clock detects it. */
export type Verdict = "fine" | "reload" | "give-up";

export interface Watching {
  /** The last position and the time since which it has not advanced. */
  readonly positionMs: number;
  readonly sinceMs: number;
  readonly hasReloaded: boolean;
}

const RELOAD_AFTER_MS = 8000;
const GIVE_UP_AFTER_MS = 20_000;

export function startWatching(positionMs: number, nowMs: number): Watching {
  return { positionMs, sinceMs: nowMs, hasReloaded: false };
}

/** Called several times per second while playback is wanted. `nowMs` is a monotonic clock. */
export function watch(watching: Watching, positionMs: number, nowMs: number): { watching: Watching; verdict: Verdict } {
  // A reload starts by going back; only moving forward counts as progress.
  if (positionMs > watching.positionMs) return { watching: startWatching(positionMs, nowMs), verdict: "fine" };
  const stalledMs = nowMs - watching.sinceMs;
  if (stalledMs >= GIVE_UP_AFTER_MS) return { watching, verdict: "give-up" };
  if (stalledMs >= RELOAD_AFTER_MS && !watching.hasReloaded) {
    return { watching: { ...watching, hasReloaded: true }, verdict: "reload" };
  }
  return { watching, verdict: "fine" };
}
