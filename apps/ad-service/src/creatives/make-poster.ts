import type { Container } from "./detect-container.ts";
import { runFfmpeg } from "./run-ffmpeg.ts";

/**
 * Takes a picture of a video, one second into it, at most 720 pixels wide. Returns false if ffmpeg is missing or
 * failed.
 */
export async function makePoster(picture: {
  ffmpeg: string;
  from: string;
  container: Container;
  to: string;
  durationMs: number;
}): Promise<boolean> {
  const { ffmpeg, from, container, to, durationMs } = picture;
  const words = ["-map", "0:v:0", "-frames:v", "1", "-vf", "scale='min(720,iw)':-2", "-q:v", "4", "-f", "mjpeg"];
  const seekSeconds = Math.min(1, durationMs / 3000).toFixed(3);
  return (await runFfmpeg(ffmpeg, { from, container, seekSeconds, outputs: [{ words, to }] })) === "done";
}
