/** Why playback waits although the user started it. It goes on when nothing holds it any more. */
export type Hold = "paused" | "dialog" | "away" | "over";

/**
 * `held`: the user or his absence stopped it. `blocked`: the browser wants a tap. `stalled`: we gave up loading, until he
 * asks again.
 */
export type Playback = "idle" | "playing" | "buffering" | "held" | "blocked" | "stalled" | "ended";

export interface PlayerSnapshot {
  readonly playback: Playback;
  readonly holds: ReadonlySet<Hold>;
  readonly positionMs: number;
  readonly isMuted: boolean;
}

/** What the user sees of it, the most final reason first. */
export function describePlayback(player: {
  readonly isWanted: boolean;
  readonly isEnded: boolean;
  readonly isStalled: boolean;
  readonly isBlocked: boolean;
  readonly isHeld: boolean;
  readonly hasFrames: boolean;
}): Playback {
  if (player.isEnded) return "ended";
  if (!player.isWanted) return "idle";
  if (player.isStalled) return "stalled";
  if (player.isHeld) return "held";
  if (player.isBlocked) return "blocked";
  return player.hasFrames ? "playing" : "buffering";
}
