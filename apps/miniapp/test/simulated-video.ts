/** Delays of a browser's media events. */
const EVENT_MS = 4;
const PLAYING_MS = 20;
const SEEK_MS = 30;
const TIME_UPDATE_MS = 250;
const FRAME_MS = 40;

/** A fully loaded `<video>` that plays on the test's fake clock. `played` has the ranges that were on the screen. */
export class SimulatedVideo extends EventTarget {
  readonly duration: number;
  readonly error = null;
  readonly readyState = 4;
  readonly networkState = 1;
  /** Where the picture freezes, although the browser says that it plays. */
  frozenAtMs = Number.POSITIVE_INFINITY;
  /** As in WebKitGTK: a pause makes the picture move again. */
  isThawedByPause = false;
  /** The same for the elements that replace this one, which are in `clones`. */
  clonesFreezeAtMs = Number.POSITIVE_INFINITY;
  readonly clones: SimulatedVideo[] = [];
  loads = 0;
  pauses = 0;
  /** How often the speed was set back to 1, and each position that was set, in seconds. */
  resets = 0;
  readonly seeks: number[] = [];
  videoWidth = 640;
  videoHeight = 360;
  src = "";
  paused = true;
  seeking = false;
  readonly #played: [from: number, to: number][] = [];
  #positionMs = 0;
  /** Start of the current movement, by `performance.now()`. */
  #movingSince: number | undefined;
  #isMuted = true;
  #rate = 1;
  #end: ReturnType<typeof setTimeout> | undefined;
  #ticks: ReturnType<typeof setInterval> | undefined;

  constructor(durationMs: number) {
    super();
    this.duration = durationMs / 1000;
  }

  get currentTime(): number {
    const moved = this.#movingSince === undefined ? 0 : performance.now() - this.#movingSince;
    const frozenAtMs = Math.max(this.frozenAtMs, this.#positionMs);
    return Math.min((this.#positionMs + moved) / 1000, frozenAtMs / 1000, this.duration);
  }

  set currentTime(seconds: number) {
    this.seeks.push(seconds);
    this.#rest();
    this.#positionMs = Math.min(seconds, this.duration) * 1000;
    this.seeking = true;
    this.#tell("seeking");
    setTimeout(() => {
      this.seeking = false;
      this.#move();
    }, SEEK_MS);
  }

  /** Only told: the picture moves at its own speed. */
  get playbackRate(): number {
    return this.#rate;
  }

  set playbackRate(rate: number) {
    if (rate === this.#rate) return;
    if (rate === 1) this.resets++;
    this.#rate = rate;
    this.#tell("ratechange");
  }

  get ended(): boolean {
    return this.currentTime >= this.duration;
  }

  get muted(): boolean {
    return this.#isMuted;
  }

  set muted(isMuted: boolean) {
    this.#isMuted = isMuted;
    this.#tell("volumechange");
  }

  get played(): [from: number, to: number][] {
    return [...this.#played, [this.#positionMs, this.currentTime * 1000]];
  }

  async play(): Promise<void> {
    if (!this.paused) return;
    this.paused = false;
    this.#move();
  }

  pause(): void {
    if (this.paused) return;
    this.pauses++;
    this.#rest();
    if (this.isThawedByPause) this.frozenAtMs = Number.POSITIVE_INFINITY;
    this.paused = true;
    this.#tell("pause");
  }

  load(): void {
    this.loads++;
    this.#rest();
    this.#positionMs = 0;
    this.paused = true;
  }

  cloneNode(): SimulatedVideo {
    const clone = new SimulatedVideo(this.duration * 1000);
    clone.frozenAtMs = clone.clonesFreezeAtMs = this.clonesFreezeAtMs;
    this.clones.push(clone);
    return clone;
  }

  replaceWith(): void {}
  removeAttribute(): void {}

  getVideoPlaybackQuality(): { totalVideoFrames: number } {
    const playedMs = this.played.reduce((sum, [from, to]) => sum + to - from, 0);
    return { totalVideoFrames: Math.floor(playedMs / FRAME_MS) };
  }

  #move(): void {
    if (this.paused || this.seeking || this.ended || this.#movingSince !== undefined) return;
    this.#movingSince = performance.now();
    this.#tell("playing", PLAYING_MS);
    this.#ticks = setInterval(() => this.dispatchEvent(new Event("timeupdate")), TIME_UPDATE_MS);
    this.#end = setTimeout(() => this.#finish(), this.duration * 1000 - this.#positionMs);
  }

  #rest(): void {
    clearInterval(this.#ticks);
    clearTimeout(this.#end);
    const [from, to] = [this.#positionMs, this.currentTime * 1000];
    if (to > from) this.#played.push([from, to]);
    this.#positionMs = to;
    this.#movingSince = undefined;
  }

  /** Fires all three events in one task, as the HTML standard requires. */
  #finish(): void {
    if (this.frozenAtMs < Number.POSITIVE_INFINITY) return;
    this.#rest();
    this.#positionMs = this.duration * 1000;
    this.paused = true;
    for (const type of ["timeupdate", "pause", "ended"]) this.dispatchEvent(new Event(type));
  }

  #tell(type: string, afterMs = EVENT_MS): void {
    setTimeout(() => this.dispatchEvent(new Event(type)), afterMs);
  }
}
