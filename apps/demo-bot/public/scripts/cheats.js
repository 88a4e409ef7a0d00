import { addStep, reportHidden } from "./chat-client.js";

const END_SECONDS = 0.3;
const HIDDEN_MS = 1500;
const STEP_MS = 100;

/**
 * What a cheating viewer would do to the page: acts on the real video in the frame, and keeps the
 * player's own guards from noticing. The ad service knows nothing of this, and judges the reports that follow.
 */
const cheats = {
  seek({ view, video }) {
    // The guard would return to the furthest second that was played.
    const restore = silence(view, ["seeking"]);
    video.currentTime = Math.max(0, video.duration - END_SECONDS);
    setTimeout(restore, 1000);
  },

  "double-speed"({ view, video }) {
    silence(view, ["ratechange"]);
    video.playbackRate = 2;
  },

  async hide({ view, video, tellVisible }) {
    tellVisible(false);
    // The mini-app pauses. The cheater plays on, and reports it.
    const restore = silence(view, ["play", "playing", "pause", "timeupdate", "ended"]);
    const fromMs = Math.round(video.currentTime * 1000);
    for (let hiddenMs = 0; hiddenMs < HIDDEN_MS; hiddenMs += STEP_MS) {
      // The mini-app learns of it later than this, and pauses then.
      if (video.paused && !video.ended) await video.play().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    }
    const toMs = Math.round(video.currentTime * 1000);
    video.pause();
    restore();
    if (toMs > fromMs) await reportHidden({ fromMs, toMs });
    tellVisible(true);
  },
};

/** Stops these events of the frame before the mini-app hears them. Returns the function that lets them pass again. */
function silence(view, types) {
  const stop = (event) => event.stopImmediatePropagation();
  for (const type of types) view.addEventListener(type, stop, true);
  return () => {
    for (const type of types) view.removeEventListener(type, stop, true);
  };
}

/** Resolves when the cheat is done. Does nothing while the frame has no video. */
export async function cheat(name, frame, tellVisible) {
  const view = frame?.contentWindow;
  const video = videoOf(frame);
  if (!video) return;
  // The click took the focus from the mini-app, which pauses without it.
  view.focus();
  await addStep({ kind: "cheat", cheat: name }).catch(() => {});
  await cheats[name]({ view, video, tellVisible });
}

/** The mini-app's page has the same origin, unless the network has gone and the browser shows its own page. */
function videoOf(frame) {
  try {
    return frame?.contentDocument?.querySelector("video") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Calls `onFrame` when the first frame of the running video is on the screen. */
export function watchFirstFrame(frame, onFrame) {
  const page = frame.contentDocument;
  page?.addEventListener(
    "playing",
    ({ target }) => {
      if (target.requestVideoFrameCallback) target.requestVideoFrameCallback(onFrame);
      else onFrame();
    },
    { capture: true, once: true },
  );
}
