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
  videoWidth = 640;
  videoHeight = 360;
  src = "";
  playbackRate = 1;
  paused = true;
  seeking = false;
  readonly #played: [from: number, to: number][] = [];
  #positionMs = 0;
  /** Start of the current movement, by `performance.now()`. */
  #movingSince: number | undefined;
  #isMuted = true;
  #end: ReturnType<typeof setTimeout> | undefined;
  #ticks: ReturnType<typeof setInterval> | undefined;

  constructor(durationMs: number) {
    super();
    this.duration = durationMs / 1000;
  }

  get currentTime(): number {
    const moved = this.#movingSince === undefined ? 0 : performance.now() - this.#movingSince;
    return Math.min((this.#positionMs + moved) / 1000, this.duration);
  }

  set currentTime(seconds: number) {
    this.#rest();
    this.#positionMs = Math.min(seconds, this.duration) * 1000;
    this.seeking = true;
    this.#tell("seeking");
    setTimeout(() => {
      this.seeking = false;
      this.#move();
    }, SEEK_MS);
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
    this.#rest();
    this.paused = true;
    this.#tell("pause");
  }

  load(): void {
    this.#rest();
    this.#positionMs = 0;
  }

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
    this.#rest();
    this.#positionMs = this.duration * 1000;
    this.paused = true;
    for (const type of ["timeupdate", "pause", "ended"]) this.dispatchEvent(new Event(type));
  }

  #tell(type: string, afterMs = EVENT_MS): void {
    setTimeout(() => this.dispatchEvent(new Event(type)), afterMs);
  }
}
