import type { Container } from "./detect-container.ts";
import { type FfmpegOutcome, runFfmpeg } from "./run-ffmpeg.ts";

/** `fast-start` moves the index to the front and keeps every picture; `encode` makes the video anew. */
export type Mending = "fast-start" | "encode";

const fit = "scale='min(1920,iw)':'min(1920,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2";
const words: Record<Mending, string[]> = {
  "fast-start": ["-c", "copy", "-movflags", "+faststart"],
  encode: [
    ...["-vf", fit, "-c:v", "libx264", "-profile:v", "main", "-pix_fmt", "yuv420p"],
    ...["-c:a", "aac", "-movflags", "+faststart"],
  ],
};

/** Makes an acceptable MP4 of a file. */
export async function mendVideo(
  mending: Mending,
  { ffmpeg, from, container, to }: { ffmpeg: string; from: string; container: Container; to: string },
): Promise<FfmpegOutcome> {
  const tracks = ["-map", "0:v:0", "-map", "0:a:0?"];
  return runFfmpeg(ffmpeg, {
    from,
    container,
    outputs: [{ words: [...tracks, ...words[mending], "-f", "mp4"], to }],
  });
}

/** The same as a command for whoever has the file. */
export function mendCommand(mending: Mending, name: string): string {
  const mended = `${name.replace(/\.[^./\\]*$/, "")}-mended.mp4`;
  const options = words[mending].map((word) => (/^[\w:+-]+$/.test(word) ? word : `"${word}"`));
  return ["ffmpeg", "-i", shellQuoted(name), ...options, shellQuoted(mended)].join(" ");
}

function shellQuoted(text: string): string {
  return /^[\w./-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
