import type { CaptionCue } from "@intermission/ad-core/captions";

/** What is said at a moment of the video; of several at once, one below the other. */
export function captionAt(cues: readonly CaptionCue[], positionMs: number): string {
  const current = cues.filter(({ fromMs, toMs }) => fromMs <= positionMs && positionMs < toMs);
  return current.map(({ text }) => text).join("\n");
}
