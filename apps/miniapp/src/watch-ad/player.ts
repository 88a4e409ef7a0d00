import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import type { PlayerEvent, PlayerMoment } from "./collect-ranges.ts";
import { checkProgress, describeFault, isPictureMissing, isTooShort, startProgress } from "./playback-faults.ts";
import { guardVideo, type Size } from "./video-element.ts";
import { shouldPlay, type WatchEvent, type WatchState } from "./watch-state.ts";

export interface PlayerOptions {
  readonly resumeAtMs: number;
  readonly durationMs: number;
  /** URLs of lighter files of the same video, the heaviest first. */
  readonly lighter: readonly string[];
  readonly isHere: () => boolean;
  readonly state: () => WatchState;
  readonly dispatch: (event: WatchEvent) => void;
  /** What was played, for the reports. */
  readonly onPlayed: (event: PlayerEvent) => void;
  /** Playback has started for the first time. */
  readonly onStart: () => void;
  /** The video probably cannot be played; the player keeps trying until the watchdog gives up. */
  readonly onFault: (fault: PlaybackFault) => void;
  /** The position, the sound, the picture's size or the loading state has changed. */
  readonly onChange: () => void;
}

const TICK_MS = 250;
const ERROR_PAUSE_MS = 1500;
/** Consecutive errors after which the video counts as broken, not slow. */
const ERRORS_OF_A_FAULT = 3;
/** A video stops slightly after `pause()`. */
const UNCOUNTED_MS = 100;

/**
 * Makes one video do what the state says, reports what was played, and turns the video's events into events of the state.
 * The constructor has no effect: `attach` takes the video.
 */
export class Player {
  private readonly video: HTMLVideoElement;
  private readonly options: PlayerOptions;
  private stop = new AbortController();
  private hasPlayed = false;
  private furthestMs: number;
  /** The position at the last call of `play()`. */
  private backoffMs = 0;
  private attempts = 0;
  private errors = 0;
  /** The furthest position at the last error. */
  private failedAtMs = -1;
  private progress = startProgress(0, 0);
  /** The position at the last `playing` event; not a number if there was none since the file was loaded. */
  private playedFromMs = 0;
  /** The browser reports frames, and has reported none since the file was loaded. */
  private isFrameless = false;
  private ticks: ReturnType<typeof setInterval> | undefined;

  constructor(video: HTMLVideoElement, options: PlayerOptions) {
    this.video = video;
    this.options = options;
    this.furthestMs = options.resumeAtMs;
  }

  /** Takes the video, its events and the media keys until `detach` is called. */
  attach(): void {
    this.stop = new AbortController();
    this.watchFrames();
    this.seek(this.furthestMs);
    const unguard = guardVideo(this.video, {
      furthestSeconds: () => this.furthestMs / 1000,
      onSeek: () => this.options.onPlayed({ type: "jumped" }),
    });
    this.stop.signal.addEventListener("abort", unguard);
    this.listen("playing", () => this.onPlaying());
    this.listen("timeupdate", () => this.tick());
    this.listen("pause", () => this.onPause());
    this.listen("waiting", () => this.options.onChange());
    this.listen("volumechange", () => this.report(this.isRunning ? "moved" : "stopped"));
    this.listen("ended", () => this.onEnded());
    this.listen("error", () => this.onError());
    this.listen("loadedmetadata", () => this.onMetadata());
    this.listen("resize", () => this.onResize());
  }

  detach(): void {
    this.stop.abort();
    clearInterval(this.ticks);
    this.ticks = undefined;
    this.video.pause();
  }

  /** Call it inside each tap that requests playback, before the state changes: a video that failed is loaded again. */
  prepare(): void {
    const hasStalled = this.options.state().motion === "stalled";
    this.errors = 0;
    this.ticks ??= setInterval(() => this.tick(), TICK_MS);
    this.progress = startProgress(this.positionMs, performance.now());
    if (hasStalled) this.reloadLighter();
    else if (this.video.error) this.reload();
  }

  /** Plays or pauses after a change of the state. */
  follow(before: WatchState): void {
    if (this.shouldPlay) {
      // A blocked video waits for a tap or for its last hold's release.
      if (!this.video.paused || this.options.state().motion !== "waiting") return;
      this.progress = startProgress(this.positionMs, performance.now());
      this.play();
    } else if (!this.video.paused) {
      this.video.pause();
      // Reported now and not with the event, which a page that is being closed does not receive.
      if (before.motion === "running") this.report("stopped", true);
    }
  }

  /** Unmute only inside a tap, or while the video is paused: otherwise browsers pause it. */
  setMuted(isMuted: boolean): void {
    this.video.muted = isMuted;
  }

  get isMuted(): boolean {
    return this.video.muted;
  }

  get positionMs(): number {
    return this.video.currentTime * 1000;
  }

  get hasFrames(): boolean {
    return this.video.readyState > HTMLMediaElement.HAVE_CURRENT_DATA;
  }

  /** The size of the picture; undefined while it is unknown, and if there is none. */
  get picture(): Size | undefined {
    const { videoWidth: width, videoHeight: height } = this.video;
    return width ? { width, height } : undefined;
  }

  /** An ad's file may be shorter than its declared duration. */
  checkLength(): void {
    const { state, durationMs, onFault } = this.options;
    if (state().motion !== "idle" && isTooShort(this.video.duration * 1000, durationMs)) onFault("too-short");
  }

  private get isRunning(): boolean {
    return this.options.state().motion === "running";
  }

  private get shouldPlay(): boolean {
    return shouldPlay(this.options.state());
  }

  private async play(): Promise<void> {
    const attempt = ++this.attempts;
    // Playback that ran and was held before a busy page got the event was not counted, so it is played again.
    if (this.positionMs > this.furthestMs + UNCOUNTED_MS) this.seek(this.furthestMs);
    this.backoffMs = this.positionMs;
    try {
      await this.video.play();
    } catch {
      // A newer attempt or a pause() aborts an older attempt; only the last one is conclusive.
      if (attempt === this.attempts && this.shouldPlay && !this.video.error) this.options.dispatch("rejected");
    }
  }

  private onPlaying(): void {
    if (!this.shouldPlay) {
      this.video.pause();
      return;
    }
    this.playedFromMs = this.positionMs;
    // Nothing counts, not even the start, while there is no picture.
    if (!this.picture) return;
    // A busy device reports the start late: the range played until then counts, too.
    if (!this.isRunning && !this.video.seeking) {
      this.options.onPlayed({ type: "moved", moment: { ...this.moment(), positionMs: this.backoffMs } });
    }
    this.options.dispatch("running");
    if (!this.hasPlayed) this.options.onStart();
    this.hasPlayed = true;
    this.report("moved");
  }

  private onPause(): void {
    this.report("stopped");
    // The system paused it, such as for a call or a dialog. Ask for a tap instead of resuming automatically.
    if (!this.video.ended) this.options.dispatch("stopped");
  }

  private onEnded(): void {
    // The seek to the end was undone.
    if (!this.video.ended || this.failsToDisplay()) return;
    this.report("stopped");
    this.options.dispatch("ended");
  }

  /** A network or decoder error. The watchdog decides how long to retry. */
  private onError(): void {
    this.options.onChange();
    if (this.shouldPlay) this.errors = this.furthestMs > this.failedAtMs ? 1 : this.errors + 1;
    this.failedAtMs = this.furthestMs;
    if (this.errors === ERRORS_OF_A_FAULT) this.options.onFault(describeFault(this.video.error));
    setTimeout(() => {
      if (this.video.error && this.shouldPlay && !this.stop.signal.aborted) this.reload();
    }, ERROR_PAUSE_MS);
  }

  private tick(): void {
    if (this.stop.signal.aborted || this.failsToDisplay()) return;
    if (this.isRunning && !this.video.seeking) this.report("moved");
    if (!this.shouldPlay || this.options.state().motion === "blocked") return;
    const { progress, verdict } = checkProgress(this.progress, this.positionMs, performance.now());
    this.progress = progress;
    switch (verdict) {
      case "fine":
        break;
      case "reload":
        this.reloadLighter();
        break;
      case "give-up":
        this.options.dispatch("stalled");
        this.options.onFault(describeFault(this.video.error));
        break;
      default:
        verdict satisfies never;
    }
  }

  private onMetadata(): void {
    this.seek(this.furthestMs);
    this.checkLength();
  }

  /** The size of the picture may arrive after the start of the sound. */
  private onResize(): void {
    if (!this.video.paused && this.hasFrames) this.onPlaying();
    this.options.onChange();
  }

  /** Whether the file plays without a picture; then it is given up. */
  private failsToDisplay(): boolean {
    const isMissing = isPictureMissing({
      picture: this.picture,
      isFrameless: this.isFrameless && !this.countFrames(),
      movedMs: this.positionMs - this.playedFromMs,
      isAtEnd: this.video.ended,
    });
    if (!isMissing || !this.shouldPlay) return false;
    this.options.dispatch("stalled");
    this.options.onFault("not-displayed");
    return true;
  }

  private watchFrames(): void {
    this.playedFromMs = Number.NaN;
    // Its handle is never 0.
    const handle = this.video.requestVideoFrameCallback?.(() => {
      this.isFrameless = false;
    });
    this.isFrameless = Boolean(handle);
  }

  private countFrames(): number | undefined {
    return this.video.getVideoPlaybackQuality?.().totalVideoFrames;
  }

  private report(type: "moved" | "stopped", hasRun = this.isRunning): void {
    if (!this.video.seeking) {
      if (hasRun) this.furthestMs = Math.max(this.furthestMs, this.positionMs);
      this.options.onPlayed({ type, moment: this.moment() });
    }
    this.options.onChange();
  }

  private moment(): PlayerMoment {
    return {
      positionMs: this.positionMs,
      isVisible: this.options.isHere(),
      isMuted: this.video.muted,
      renderedFrames: this.countFrames(),
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
    this.options.onPlayed({ type: "jumped" });
    this.options.dispatch("reloading");
    this.video.load();
    this.watchFrames();
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
}
