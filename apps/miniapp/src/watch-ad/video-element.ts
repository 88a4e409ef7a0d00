import type { AdForPlayer } from "@intermission/ad-core/player-api";

/** The containers of the service's videos. */
const MEDIA_TYPES = ["video/mp4", "video/webm"];

/** The media types that this browser reports it can play. The service chooses ads and files by them. */
export function playableTypes(video: HTMLVideoElement): string[] {
  return MEDIA_TYPES.filter((type) => video.canPlayType(type));
}

/** Makes the view's only `<video>` start loading. Muted and inline, as browsers require for autoplay. */
export function loadVideo(
  video: HTMLVideoElement,
  ad: Pick<AdForPlayer, "media_url" | "poster_url">,
): HTMLVideoElement {
  video.className = "video";
  video.muted = video.playsInline = true;
  video.preload = "auto";
  if (ad.poster_url) video.poster = ad.poster_url;
  // Setting the same address would load it again.
  if (video.src !== ad.media_url) video.src = ad.media_url;
  return video;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A lighter file's sides are rounded to whole pixels. */
const SAME_SHAPE = 0.01;

/**
 * The size that a video is laid out for: the picture's own, since an ad may declare none or a wrong one. If both have the
 * same shape the declared size stays, so that nothing moves when the metadata arrive.
 */
export function layoutSize(declared: Size, picture: Size | undefined): Size {
  if (!picture) return declared;
  const ratio = (picture.width * declared.height) / (picture.height * declared.width);
  return Math.abs(ratio - 1) <= SAME_SHAPE ? declared : picture;
}

export interface Guard {
  /** The video was moved beyond what was played and is not back yet: what it shows meanwhile is not playback. */
  hasSkipped(): boolean;
  release(): void;
}

/** Prevents native controls, seeking ahead and other speeds. The server verifies the view in any case. */
export function guardVideo(
  video: HTMLVideoElement,
  options: { furthestSeconds: () => number; onSeek: () => void },
): Guard {
  const stop = new AbortController();
  const listening = { signal: stop.signal };
  video.controls = false;
  video.loop = false;
  video.disablePictureInPicture = true;
  video.disableRemotePlayback = true;
  const isBeyondPlayed = () => video.currentTime > options.furthestSeconds() + SEEK_SLACK_SECONDS;
  let hasSkipped = false;
  const goBack = calmly(() => {
    if (isBeyondPlayed()) video.currentTime = options.furthestSeconds();
    hasSkipped = false;
  }, stop.signal);
  video.addEventListener(
    "seeking",
    () => {
      options.onSeek();
      hasSkipped ||= isBeyondPlayed();
      if (hasSkipped) goBack();
    },
    listening,
  );
  const resetSpeed = calmly(() => {
    if (video.playbackRate !== 1 && !video.ended) video.playbackRate = 1;
  }, stop.signal);
  video.addEventListener("ratechange", resetSpeed, listening);
  video.addEventListener("contextmenu", (event) => event.preventDefault(), listening);
  const releaseKeys = silenceMediaKeys();
  return {
    hasSkipped: () => hasSkipped,
    release() {
      stop.abort();
      releaseKeys();
    },
  };
}

const CALM_MS = 250;

/** Acts at once, then at most every 250 ms: a script that undoes each correction must not keep the processor busy. */
export function calmly(act: () => void, stop: AbortSignal): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  return function run() {
    isDue = timer !== undefined;
    if (isDue || stop.aborted) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (isDue) run();
    }, CALM_MS);
    act();
  };
}

const SEEK_SLACK_SECONDS = 0.5;
const MEDIA_ACTIONS = [
  "play",
  "pause",
  "stop",
  "seekbackward",
  "seekforward",
  "seekto",
  "previoustrack",
  "nexttrack",
] as const;

/** Without these handlers the browser would apply its own. */
function silenceMediaKeys(): () => void {
  if (!("mediaSession" in navigator)) return () => {};
  const setAll = (handler: (() => void) | null) => {
    for (const action of MEDIA_ACTIONS) {
      try {
        navigator.mediaSession.setActionHandler(action, handler);
      } catch {
        // A browser that does not support the action has no key for it.
      }
    }
  };
  navigator.mediaSession.metadata = null;
  setAll(() => {});
  return () => setAll(null);
}
