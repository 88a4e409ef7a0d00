/** The figures of a page, in milliseconds since its request. */
export interface PageVitals {
  readonly firstPaint: number;
  /** When the start button can be tapped; the plain page has none. */
  readonly offer: number;
  /** When a frame of the video is on the screen. */
  readonly firstFrame: number;
  readonly lcp: number;
  readonly cls: number;
  /** The slowest response to a tap; browsers report none under 16 ms. */
  readonly inp: number;
  readonly tapToPlaying: number;
  readonly closeToCredited: number;
}

declare global {
  interface Window {
    vitals: { [Name in keyof PageVitals]: number };
  }
}

/** Runs in the page before any other script. It calls no other function of this file, since only its own text is sent. */
export function observeVitals(): void {
  const none = Number.NaN;
  const vitals = {
    firstPaint: none,
    offer: none,
    firstFrame: none,
    lcp: none,
    cls: 0,
    inp: 0,
    tapToPlaying: none,
    closeToCredited: none,
  };
  window.vitals = vitals;
  const observe = (type: string, note: (entry: PerformanceEntry) => void, options = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true, ...options });
  observe("paint", ({ name, startTime }) => {
    if (name === "first-paint") vitals.firstPaint = startTime;
  });
  observe("largest-contentful-paint", ({ startTime }) => {
    vitals.lcp = startTime;
  });
  observe("layout-shift", (entry) => {
    if ("value" in entry && !("hadRecentInput" in entry && entry.hadRecentInput)) vitals.cls += Number(entry.value);
  });
  const noteInteraction = (entry: PerformanceEntry) => {
    if ("interactionId" in entry && entry.interactionId) vitals.inp = Math.max(vitals.inp, entry.duration);
  };
  observe("event", noteInteraction, { durationThreshold: 16 });

  let tappedAt = 0;
  addEventListener(
    "click",
    () => {
      tappedAt = performance.now();
    },
    true,
  );
  const noteFirstFrame = (video: HTMLVideoElement) => {
    // The video is loaded and in the page; it is painted in the frame after the next one.
    if (!video.isConnected || video.readyState < 2 || !Number.isNaN(vitals.firstFrame)) return;
    vitals.firstFrame = 0;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        vitals.firstFrame = performance.now();
      }),
    );
  };
  const videos = new WeakSet<HTMLVideoElement>();
  const look = () => {
    const video = document.querySelector("video");
    if (video) {
      noteFirstFrame(video);
      if (!videos.has(video)) {
        videos.add(video);
        video.addEventListener("loadeddata", () => noteFirstFrame(video));
        video.addEventListener("playing", () => {
          if (Number.isNaN(vitals.tapToPlaying)) vitals.tapToPlaying = performance.now() - tappedAt;
        });
      }
    }
    const { state } = document.documentElement.dataset;
    if (state === "offer" && Number.isNaN(vitals.offer)) vitals.offer = performance.now();
    if (state === "status-credited" && Number.isNaN(vitals.closeToCredited)) {
      vitals.closeToCredited = performance.now() - tappedAt;
    }
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
}
