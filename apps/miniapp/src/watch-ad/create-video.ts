import type { AdForPlayer } from "@intermission/ad-core/player-api";

/** Creates the view's only `<video>`, which starts loading. Muted and inline, as browsers require for autoplay. */
export function createVideo(ad: Pick<AdForPlayer, "media_url" | "poster_url">): HTMLVideoElement {
  const video = document.createElement("video");
  video.className = "video";
  video.muted = video.playsInline = true;
  video.preload = "auto";
  if (ad.poster_url) video.poster = ad.poster_url;
  video.src = ad.media_url;
  return video;
}
