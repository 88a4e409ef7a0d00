/** Why playback is held although the user started it. It continues when no hold is left. */
export type Hold = "paused" | "dialog" | "away" | "over";

/**
 * `held`: the user paused or is away. `blocked`: the browser requires a tap. `stalled`: the player gave up loading until
 * the user taps again.
 */
export type Playback = "idle" | "playing" | "buffering" | "held" | "blocked" | "stalled" | "ended";

export interface PlayerSnapshot {
  readonly playback: Playback;
  readonly holds: ReadonlySet<Hold>;
  readonly positionMs: number;
  readonly isMuted: boolean;
}

/** The playback state to show; the most final reason takes precedence. */
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
