import { isFrameInView, type ShownFrame } from "@intermission/ad-core/frame-in-view";
import type { WindowSize } from "./messages.ts";

/** The second version of the observer, where the browser has it: it also sees what lies over the frame, and how it is drawn. */
interface SecondVersion {
  readonly trackVisibility: true;
  readonly delay: number;
}
interface Entry extends IntersectionObserverEntry {
  readonly isVisible?: boolean;
}

const SHARES = Array.from({ length: 21 }, (_, step) => step / 20);
/** The page and its frame change their sizes one after the other. */
const SETTLE_MS = 100;
const CHECK_MS = 500;

/** What of this frame is on the screen, and since when too little of it. */
export class WatchedFrame {
  private share = 0;
  private isCovered: boolean | undefined;
  private window: WindowSize = { width: 0, height: 0 };
  private readonly listeners = new Set<() => void>();
  private seen: ShownFrame = this.measure();
  private settling: ReturnType<typeof setTimeout> | undefined;

  /** Watches until the page ends. */
  start(): void {
    const probe = document.createElement("div");
    probe.style.cssText =
      "position:fixed;top:0;right:0;bottom:0;left:0;z-index:2147483647;pointer-events:none;background:none";
    document.body.append(probe);
    const options: IntersectionObserverInit & SecondVersion = { threshold: SHARES, trackVisibility: true, delay: 100 };
    new IntersectionObserver((entries: readonly Entry[]) => {
      const entry = entries[entries.length - 1];
      if (!entry) return;
      this.share = entry.intersectionRatio;
      this.isCovered = entry.isVisible === undefined ? undefined : !entry.isVisible;
      this.tell();
    }, options).observe(probe);
    window.addEventListener("resize", () => this.settle());
    // A frame without a layout gets no events, and a touch counts as presence: neither may last.
    setInterval(() => this.isInView || this.tell(), CHECK_MS);
  }

  get current(): ShownFrame {
    return this.seen;
  }

  get isInView(): boolean {
    return isFrameInView(this.seen);
  }

  /** The size of the window around the frame, as its page says. */
  setWindow(size: WindowSize): void {
    this.window = size;
    this.settle();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Resolves when it is in view, and later where it is not. */
  untilInView(patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        stop();
        clearTimeout(tooLong);
        resolve();
      };
      const stop = this.onChange(() => this.isInView && end());
      const tooLong = setTimeout(end, this.isInView ? 0 : patienceMs);
    });
  }

  private settle(): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.tell(), SETTLE_MS);
  }

  private tell(): void {
    this.seen = this.measure();
    for (const listener of this.listeners) listener();
  }

  private measure(): ShownFrame {
    const { share, isCovered, window: around } = this;
    return {
      in_view: share,
      width: window.innerWidth,
      height: window.innerHeight,
      window_width: around.width,
      window_height: around.height,
      ...(isCovered !== undefined && { covered: isCovered }),
    };
  }
}
