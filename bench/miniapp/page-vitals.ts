/** What a page tells of itself, in milliseconds since it was asked for. */
export interface PageVitals {
  readonly firstPaint: number;
  /** The start button can be tapped; on the plain page there is none. */
  readonly offer: number;
  /** A frame of the video is on the screen. */
  readonly firstFrame: number;
  readonly lcp: number;
  readonly cls: number;
  /** The slowest answer to a tap; browsers tell none under 16 ms. */
  readonly inp: number;
  readonly tapToPlaying: number;
  readonly closeToCredited: number;
}

declare global {
  interface Window {
    vitals: { [Name in keyof PageVitals]: number };
  }
}

/** Runs in the page before anything else. Written without helpers, since only its text gets there. */
export function observeVitals(): void {
  const none = Number.NaN;
  const vitals = {
    ...{ firstPaint: none, offer: none, firstFrame: none, lcp: none, cls: 0, inp: 0 },
    ...{ tapToPlaying: none, closeToCredited: none },
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
    // Loaded, in the page, and painted: the frame after the next one has it.
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
