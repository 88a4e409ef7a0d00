import type { PlaybackFault } from "@intermission/ad-core/player-api";
import type { PlayerEvent, PlayerMoment } from "./collect-ranges.ts";
import { describeFault } from "./describe-fault.ts";
import { describePlayback, type Hold, type PlayerSnapshot } from "./describe-playback.ts";
import { guardVideo } from "./guard-video.ts";
import { startWatching, type Watching, watch } from "./watchdog.ts";

export interface PlayerOptions {
  readonly resumeAtMs: number;
  readonly durationMs: number;
  /** URLs of lighter files of the same video, the heaviest first. */
  readonly lighter: readonly string[];
  readonly isHere: () => boolean;
  readonly onEvent: (event: PlayerEvent) => void;
  /** Playback has started for the first time. */
  readonly onStart: () => void;
  readonly onEnd: () => void;
  /** The video probably cannot be played; the player keeps trying until the watchdog gives up. */
  readonly onFault: (fault: PlaybackFault) => void;
  readonly onChange: (snapshot: PlayerSnapshot) => void;
}

const TICK_MS = 250;
const ERROR_PAUSE_MS = 1500;
/** Consecutive errors after which the video counts as broken, not slow. */
const ERRORS_OF_A_FAULT = 3;
/**
 * The service counts a view as watched at 97 % of the video, or at all but the last second (the last tenth of a short one):
 * a file that is shorter than that can never be watched.
 */
const SHORTEST_SHARE = 0.97;
const LAST_SECOND_MS = 1000;
const LAST_SECOND_SHARE = 0.1;
/** A video stops slightly after `pause()`. */
const UNCOUNTED_MS = 100;

/** Plays one video from the start tap to its end, across all interruptions. It never plays unless the user wants it. */
export class Player {
  private readonly video: HTMLVideoElement;
  private readonly options: PlayerOptions;
  private readonly stop = new AbortController();
  private readonly holds = new Set<Hold>();
  private isWanted = false;
  private hasPlayed = false;
  private isBlocked = false;
  private isStalled = false;
  private isEnded = false;
  private isRunning = false;
  private furthestMs: number;
  /** The position at the last call of `play()`. */
  private restMs = 0;
  private attempts = 0;
  private errors = 0;
  /** The furthest position at the last error. */
  private failedAtMs = -1;
  private watching: Watching;
  private ticks: ReturnType<typeof setInterval> | undefined;

  constructor(video: HTMLVideoElement, options: PlayerOptions) {
    this.video = video;
    this.options = options;
    this.furthestMs = options.resumeAtMs;
    this.watching = startWatching(options.resumeAtMs, performance.now());
    this.seek(options.resumeAtMs);
    const unguard = guardVideo(video, {
      furthestSeconds: () => this.furthestMs / 1000,
      onSeek: () => this.options.onEvent({ type: "jumped" }),
    });
    this.stop.signal.addEventListener("abort", unguard);
    this.listen("playing", () => this.onPlaying());
    this.listen("timeupdate", () => this.tick());
    this.listen("pause", () => this.onPause());
    this.listen("waiting", () => this.publish());
    this.listen("volumechange", () => this.onEvent(this.isRunning ? "moved" : "stopped"));
    this.listen("ended", () => this.onEnded());
    this.listen("error", () => this.onError());
    this.listen("loadedmetadata", () => this.onMetadata());
  }

  /** Starts playback, for the first time or after it was blocked or gave up. Call it only inside a tap. */
  start(): void {
    const hasStalled = this.isStalled;
    this.isWanted = true;
    this.isBlocked = false;
    this.isStalled = false;
    this.errors = 0;
    this.ticks ??= setInterval(() => this.tick(), TICK_MS);
    this.watching = startWatching(this.positionMs, performance.now());
    if (hasStalled) this.reloadLighter();
    else if (this.video.error) this.reload();
    this.follow();
    this.checkLength();
  }

  hold(hold: Hold): void {
    this.holds.add(hold);
    this.follow();
  }

  release(hold: Hold): void {
    this.holds.delete(hold);
    this.follow();
  }

  /** Unmute only inside a tap: otherwise browsers pause the video. */
  setMuted(isMuted: boolean): void {
    this.video.muted = isMuted;
    this.publish();
  }

  destroy(): void {
    this.stop.abort();
    clearInterval(this.ticks);
    this.video.pause();
  }

  get snapshot(): PlayerSnapshot {
    return {
      playback: describePlayback({
        isWanted: this.isWanted,
        isEnded: this.isEnded,
        isStalled: this.isStalled,
        isBlocked: this.isBlocked,
        isHeld: this.holds.size > 0,
        hasFrames: this.isRunning && this.video.readyState > HTMLMediaElement.HAVE_CURRENT_DATA,
      }),
      holds: new Set(this.holds),
      positionMs: this.positionMs,
      isMuted: this.video.muted,
    };
  }

  private get positionMs(): number {
    return this.video.currentTime * 1000;
  }

  private get shouldPlay(): boolean {
    return this.isWanted && this.holds.size === 0 && !this.isStalled && !this.isEnded;
  }

  private follow(): void {
    if (!this.shouldPlay) {
      if (!this.video.paused) this.pause();
    } else if (this.video.paused) {
      this.watching = startWatching(this.positionMs, performance.now());
      this.play();
    }
    this.publish();
  }

  /** Reports the stop immediately instead of with the event, which a page that is being closed does not receive. */
  private pause(): void {
    this.video.pause();
    if (this.isRunning) this.onEvent("stopped");
    this.isRunning = false;
  }

  private async play(): Promise<void> {
    const attempt = ++this.attempts;
    // Playback that ran and was held before a busy page got the event was not counted, so it is played again.
    if (this.positionMs > this.furthestMs + UNCOUNTED_MS) this.seek(this.furthestMs);
    this.restMs = this.positionMs;
    try {
      await this.video.play();
      this.isBlocked = false;
    } catch {
      // A newer attempt or a pause() aborts an older attempt; only the last one is conclusive.
      this.isBlocked = attempt === this.attempts && this.shouldPlay && !this.video.error;
    }
    this.publish();
  }

  private onPlaying(): void {
    if (!this.shouldPlay) {
      this.video.pause();
      return;
    }
    // A busy device reports the start late: the range played until then counts, too.
    if (!this.isRunning && !this.video.seeking) {
      this.options.onEvent({ type: "moved", moment: { ...this.moment(), positionMs: this.restMs } });
    }
    this.isRunning = true;
    if (!this.hasPlayed) this.options.onStart();
    this.hasPlayed = true;
    this.onEvent("moved");
  }

  private onPause(): void {
    // The system paused it, such as for a call or a dialog. Ask for a tap instead of resuming automatically.
    if (this.isRunning && this.shouldPlay && !this.video.ended) this.isBlocked = true;
    this.onEvent("stopped");
    this.isRunning = false;
    this.publish();
  }

  private onEnded(): void {
    // The seek to the end was undone.
    if (!this.video.ended) return;
    this.isEnded = true;
    this.onEvent("stopped");
    this.isRunning = false;
    this.options.onEnd();
  }

  /** A network or decoder error. The watchdog decides how long to retry. */
  private onError(): void {
    this.publish();
    if (this.shouldPlay) this.errors = this.furthestMs > this.failedAtMs ? 1 : this.errors + 1;
    this.failedAtMs = this.furthestMs;
    if (this.errors === ERRORS_OF_A_FAULT) this.options.onFault(describeFault(this.video.error));
    setTimeout(() => {
      if (this.video.error && this.shouldPlay && !this.stop.signal.aborted) this.reload();
    }, ERROR_PAUSE_MS);
  }

  private tick(): void {
    if (this.stop.signal.aborted) return;
    if (this.isRunning && !this.video.seeking) this.onEvent("moved");
    if (!this.shouldPlay || this.isBlocked) return;
    const { watching, verdict } = watch(this.watching, this.positionMs, performance.now());
    this.watching = watching;
    if (verdict === "reload") this.reloadLighter();
    if (verdict === "give-up") {
      this.isStalled = true;
      this.follow();
      this.options.onFault(describeFault(this.video.error));
    }
  }

  private onMetadata(): void {
    this.seek(this.furthestMs);
    this.checkLength();
  }

  /** An ad's file may be shorter than its declared duration. */
  private checkLength(): void {
    const { durationMs, onFault } = this.options;
    const lastMs = Math.min(LAST_SECOND_MS, durationMs * LAST_SECOND_SHARE);
    const least = Math.min(durationMs * SHORTEST_SHARE, durationMs - lastMs);
    if (this.isWanted && this.video.duration * 1000 < least) onFault("too-short");
  }

  private onEvent(type: "moved" | "stopped"): void {
    if (!this.video.seeking) {
      if (this.isRunning) this.furthestMs = Math.max(this.furthestMs, this.positionMs);
      this.options.onEvent({ type, moment: this.moment() });
    }
    this.publish();
  }

  private moment(): PlayerMoment {
    return {
      positionMs: this.positionMs,
      isVisible: this.options.isHere(),
      isMuted: this.video.muted,
      renderedFrames: this.video.getVideoPlaybackQuality?.().totalVideoFrames,
    };
  }

  /** A stalled file may be too large for the connection. */
  private reloadLighter(): void {
    const files = this.options.lighter.map((url) => new URL(url, location.href).href);
    const next = files[files.indexOf(this.video.src) + 1];
    if (next) this.video.src = next;
    this.reload();
  }

  /** Reloads the media and continues at the furthest position. */
  private reload(): void {
    this.options.onEvent({ type: "jumped" });
    this.isRunning = false;
    this.video.load();
    this.seek(this.furthestMs);
    if (this.shouldPlay) this.play();
  }

  /** Before the metadata is loaded this sets the start position; some web views ignore it, so `onMetadata` seeks again. */
  private seek(positionMs: number): void {
    if (Math.abs(this.positionMs - positionMs) > 1) this.video.currentTime = positionMs / 1000;
  }

  private listen(type: keyof HTMLMediaElementEventMap, listener: () => void): void {
    this.video.addEventListener(type, listener, { signal: this.stop.signal });
  }

  private publish(): void {
    if (!this.stop.signal.aborted) this.options.onChange(this.snapshot);
  }
}
