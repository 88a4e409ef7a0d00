import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import type { PlayerEvent, PlayerMoment } from "./collect-ranges.ts";
import {
  checkProgress,
  describeFault,
  FROZEN_MS,
  isPictureMissing,
  isTooShort,
  startProgress,
  type Verdict,
} from "./playback-faults.ts";
import { calmly, type Guard, guardVideo, type Size } from "./video-element.ts";
import { shouldPlay, type WatchEvent, type WatchState } from "./watch-state.ts";

interface PlayerOptions {
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
  private video: HTMLVideoElement;
  private readonly options: PlayerOptions;
  private stop = new AbortController();
  /** Of the current element. */
  private release = () => {};
  private guard: Guard | undefined;
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
  /** Pauses a video that should not play. */
  private holdStill = () => {};

  constructor(video: HTMLVideoElement, options: PlayerOptions) {
    this.video = video;
    this.options = options;
    this.furthestMs = options.resumeAtMs;
  }

  /** Takes the video, its events and the media keys until `detach` is called. */
  attach(): void {
    this.stop = new AbortController();
    this.take(this.video);
  }

  detach(): void {
    this.stop.abort();
    this.release();
    clearInterval(this.ticks);
    this.ticks = undefined;
    this.video.pause();
  }

  private take(video: HTMLVideoElement): void {
    const stop = new AbortController();
    this.video = video;
    this.watchFrames();
    this.seek(this.furthestMs);
    const guard = guardVideo(video, {
      furthestSeconds: () => this.furthestMs / 1000,
      onSeek: () => this.options.onPlayed({ type: "jumped" }),
    });
    this.guard = guard;
    this.release = () => {
      stop.abort();
      guard.release();
    };
    const listen = (type: keyof HTMLMediaElementEventMap, listener: () => void) =>
      video.addEventListener(type, listener, { signal: stop.signal });
    listen("playing", () => this.onPlaying());
    listen("timeupdate", () => this.tick());
    listen("pause", () => this.onPause());
    listen("waiting", () => this.options.onChange());
    listen(
      "volumechange",
      calmly(() => this.report(this.isRunning ? "moved" : "stopped"), stop.signal),
    );
    listen("ended", () => this.onEnded());
    listen("error", () => this.onError());
    listen("loadedmetadata", () => this.onMetadata());
    listen("resize", () => this.onResize());
    this.holdStill = calmly(() => {
      if (!this.shouldPlay) video.pause();
    }, stop.signal);
  }

  /** Call it inside each tap that requests playback, before the state changes: a video that failed is loaded again. */
  prepare(): void {
    const hasStalled = this.options.state().motion === "stalled";
    this.errors = 0;
    this.ticks ??= setInterval(() => this.tick(), TICK_MS);
    this.progress = startProgress(this.positionMs, performance.now());
    if (hasStalled || this.video.error) this.reload(hasStalled);
  }

  /** Plays or pauses after a change of the state. */
  follow(before: WatchState): void {
    if (this.shouldPlay) {
      // A blocked video waits for a tap or for its last hold's release.
      if (!this.video.paused || this.options.state().motion !== "waiting") return;
      if (!shouldPlay(before)) this.progress = startProgress(this.positionMs, performance.now());
      this.play();
    } else if (!shouldPlay(before)) this.holdStill();
    else if (!this.video.paused) {
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

  /** The browser has the frames to go on. */
  get hasFrames(): boolean {
    return this.video.readyState > HTMLMediaElement.HAVE_CURRENT_DATA;
  }

  /** The picture moves, or could have done so only a moment ago. */
  get isMoving(): boolean {
    return this.hasFrames && performance.now() - this.progress.sinceMs < FROZEN_MS;
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
      this.holdStill();
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
    // The event comes later than the pause, and a restart plays on.
    if (!this.video.paused) return;
    this.report("stopped");
    // The system paused it, such as for a call or a dialog. Ask for a tap instead of resuming automatically.
    if (!this.video.ended) this.options.dispatch("stopped");
  }

  private onEnded(): void {
    // The seek to the end was undone.
    if (!this.video.ended || this.guard?.hasSkipped() || this.failsToDisplay()) return;
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
      if (this.video.error && this.shouldPlay && !this.stop.signal.aborted) this.reload(false);
    }, ERROR_PAUSE_MS);
  }

  private tick(): void {
    if (this.stop.signal.aborted || this.failsToDisplay()) return;
    const verdict = this.checkMovement();
    if (this.isRunning && !this.video.seeking) this.report("moved");
    switch (verdict) {
      case "fine":
        break;
      case "restart":
        // Frozen, and not still seeking or decoding its first frame: those take their time on a slow phone.
        if (!this.hasFrames || this.video.seeking) break;
        this.video.pause();
        this.play();
        break;
      case "reload":
      case "renew":
        this.reload(verdict === "renew");
        break;
      case "give-up":
        this.options.dispatch("stalled");
        this.options.onFault(describeFault(this.video.error));
        break;
      default:
        verdict satisfies never;
    }
  }

  private checkMovement(): Verdict {
    if (!this.shouldPlay || this.options.state().motion === "blocked") return "fine";
    const isLoading = !this.hasFrames && this.video.networkState === HTMLMediaElement.NETWORK_LOADING;
    const { progress, verdict } = checkProgress(this.progress, this.positionMs, performance.now(), isLoading);
    this.progress = progress;
    return verdict;
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
    if (!this.video.seeking && !this.guard?.hasSkipped()) {
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

  /** A file that stalled or failed may be too large for the connection. */
  private lighterFile(): string | undefined {
    const files = this.options.lighter.map((url) => new URL(url, location.href).href);
    return files[files.indexOf(this.video.src) + 1];
  }

  /**
   * Loads the media again, from a lighter file if there is one, and continues at the furthest position; `isNew`: in a new
   * element of the same look, because the old one plays no more, whatever it loads.
   */
  private reload(isNew: boolean): void {
    const old = this.video;
    const file = this.lighterFile();
    this.options.onPlayed({ type: "jumped" });
    this.options.dispatch("reloading");
    if (isNew) {
      this.release();
      const video = old.cloneNode() as HTMLVideoElement;
      video.muted = old.muted;
      old.replaceWith(video);
      // Releases the decoder and the connection.
      old.removeAttribute("src");
      this.take(video);
    } else this.watchFrames();
    if (file) this.video.src = file;
    old.load();
    this.seek(this.furthestMs);
    if (this.shouldPlay) this.play();
  }

  /** Before the metadata is loaded this sets the start position; some web views ignore it, so `onMetadata` seeks again. */
  private seek(positionMs: number): void {
    if (Math.abs(this.positionMs - positionMs) > 1) this.video.currentTime = positionMs / 1000;
  }
}
