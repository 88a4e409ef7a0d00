import type { PlaybackFault } from "@intermission/ad-core/player-api";
import type { PlayerEvent, PlayerMoment } from "./collect-ranges.ts";
import { describeFault } from "./describe-fault.ts";
import { describePlayback, type Hold, type PlayerSnapshot } from "./describe-playback.ts";
import { guardVideo } from "./guard-video.ts";
import { startWatching, type Watching, watch } from "./watchdog.ts";

export interface PlayerOptions {
  readonly resumeAtMs: number;
  readonly durationMs: number;
  /** Addresses of lighter files of the same video, the heaviest first. */
  readonly lighter: readonly string[];
  readonly isHere: () => boolean;
  readonly onEvent: (event: PlayerEvent) => void;
  /** The first frames play. */
  readonly onStart: () => void;
  readonly onEnd: () => void;
  /** It cannot be played, it seems; the player goes on trying for as long as the watchdog lets it. */
  readonly onFault: (fault: PlaybackFault) => void;
  readonly onChange: (snapshot: PlayerSnapshot) => void;
}

const TICK_MS = 250;
const ERROR_PAUSE_MS = 1500;
/** In a row: what fails so often is broken, not late. */
const ERRORS_OF_A_FAULT = 3;
/** A view is watched with 97 % of its video, or all but the last second (of a short one the last tenth): of a shorter file it never is. */
const SHORTEST_SHARE = 0.97;
const LAST_SECOND_MS = 1000;
const LAST_SECOND_SHARE = 0.1;
/** A video stands still a little later than it was asked to. */
const UNCOUNTED_MS = 100;

/** Plays one video from its start tap to its end, whatever holds it up. It never plays ahead of the user's will. */
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
  /** Where playback stood when it was last asked for. */
  private restMs = 0;
  private attempts = 0;
  private errors = 0;
  /** How far playback had come at the last error. */
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

  /** The user asks for playback, at first or again after it was blocked or gave up. Only inside a tap. */
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

  /** Sound only inside a tap: elsewhere browsers pause a video that is unmuted. */
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

  /** Told at once and not with the event: a page that goes away does not live to see it. */
  private pause(): void {
    this.video.pause();
    if (this.isRunning) this.onEvent("stopped");
    this.isRunning = false;
  }

  private async play(): Promise<void> {
    const attempt = ++this.attempts;
    // What ran before a busy page was told so, and was held before it could be counted, is played again, not missed.
    if (this.positionMs > this.furthestMs + UNCOUNTED_MS) this.seek(this.furthestMs);
    this.restMs = this.positionMs;
    try {
      await this.video.play();
      this.isBlocked = false;
    } catch {
      // A newer attempt, or our own pause, interrupts an older one; only the last one tells.
      this.isBlocked = attempt === this.attempts && this.shouldPlay && !this.video.error;
    }
    this.publish();
  }

  private onPlaying(): void {
    if (!this.shouldPlay) {
      this.video.pause();
      return;
    }
    // A busy device tells late that playback began: what ran until then was played, too.
    if (!this.isRunning && !this.video.seeking) {
      this.options.onEvent({ type: "moved", moment: { ...this.moment(), positionMs: this.restMs } });
    }
    this.isRunning = true;
    if (!this.hasPlayed) this.options.onStart();
    this.hasPlayed = true;
    this.onEvent("moved");
  }

  private onPause(): void {
    // Something outside paused it: a call, a system dialog. Ask for a tap instead of fighting.
    if (this.isRunning && this.shouldPlay && !this.video.ended) this.isBlocked = true;
    this.onEvent("stopped");
    this.isRunning = false;
    this.publish();
  }

  private onEnded(): void {
    // A seek to the end that was taken back.
    if (!this.video.ended) return;
    this.isEnded = true;
    this.onEvent("stopped");
    this.isRunning = false;
    this.options.onEnd();
  }

  /** The network or the decoder gave up. The watchdog decides how long it is worth trying. */
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

  /** An ad may promise more than its file holds. */
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

  /** What stalled may be too heavy for the connection. */
  private reloadLighter(): void {
    const files = this.options.lighter.map((url) => new URL(url, location.href).href);
    const next = files[files.indexOf(this.video.src) + 1];
    if (next) this.video.src = next;
    this.reload();
  }

  /** Loads the media again and goes on where it stopped. */
  private reload(): void {
    this.options.onEvent({ type: "jumped" });
    this.isRunning = false;
    this.video.load();
    this.seek(this.furthestMs);
    if (this.shouldPlay) this.play();
  }

  /** Before the media's length is known this asks where playback will start; not each web view listens, so it is asked again then. */
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
