import { runFfmpeg } from "./run-ffmpeg.ts";

/** A picture of a video, a second into it, 720 pixels wide at most. False where ffmpeg is not there. */
export async function makePoster(picture: { ffmpeg: string; from: string; to: string; durationMs: number }) {
  const { ffmpeg, from, to, durationMs } = picture;
  const seconds = Math.min(1, durationMs / 3000).toFixed(3);
  return runFfmpeg(ffmpeg, [
    "-ss",
    seconds,
    "-i",
    from,
    "-frames:v",
    "1",
    "-vf",
    "scale='min(720,iw)':-2",
    "-q:v",
    "4",
    to,
  ]);
}
