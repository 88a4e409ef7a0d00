import type { AdForPlayer } from "@intermission/ad-core/player-api";

/** The one `<video>` of a view, loading from here on. Muted and inline, since anything else is not allowed to play by itself. */
export function createVideo(ad: Pick<AdForPlayer, "media_url" | "poster_url">): HTMLVideoElement {
  const video = document.createElement("video");
  video.className = "video";
  video.muted = video.playsInline = true;
  video.preload = "auto";
  if (ad.poster_url) video.poster = ad.poster_url;
  video.src = ad.media_url;
  return video;
}
