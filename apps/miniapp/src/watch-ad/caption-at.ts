import type { CaptionCue } from "@intermission/ad-core/captions";

/** The caption at a position of the video; simultaneous cues are on separate lines. */
export function captionAt(cues: readonly CaptionCue[], positionMs: number): string {
  const current = cues.filter(({ fromMs, toMs }) => fromMs <= positionMs && positionMs < toMs);
  return current.map(({ text }) => text).join("\n");
}
