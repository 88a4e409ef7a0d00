import type { Playback, Stage } from "./watch-state.ts";

/**
 * What an interstitial needs so that it keeps nobody: used behind the build's constant `IN_APP` alone, so that the mini-app does
 * not contain it.
 */
export class Patience {
  /** The service has charged the interstitial, or closed it: no further answer may come. */
  isCharged = false;
  /** The video has loaded without moving for as long as the user waits for its button. */
  isStuck = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly skipAfterMs: number;
  private readonly onStuck: () => void;

  constructor(skipAfterMs: number, onStuck: () => void) {
    this.skipAfterMs = skipAfterMs;
    this.onStuck = onStuck;
  }

  watch({ stage, playback }: { stage: Stage; playback: Playback }): void {
    if (stage !== "playing" || playback !== "buffering") this.end();
    else
      this.timer ??= setTimeout(() => {
        this.isStuck = true;
        this.onStuck();
      }, this.skipAfterMs);
  }

  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isStuck = false;
  }
}
