import type { Container } from "./detect-container.ts";
import { type FfmpegOutcome, runFfmpeg } from "./run-ffmpeg.ts";

/** `fast-start` moves the index to the front and keeps every picture; `encode` encodes the video again. */
export type Conversion = "fast-start" | "encode";

const fit = "scale='min(1920,iw)':'min(1920,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2";
const words: Record<Conversion, string[]> = {
  "fast-start": ["-c", "copy", "-movflags", "+faststart"],
  encode: [
    ...["-vf", fit, "-c:v", "libx264", "-profile:v", "main", "-pix_fmt", "yuv420p"],
    ...["-c:a", "aac", "-movflags", "+faststart"],
  ],
};

/** Converts a file to an acceptable MP4. */
export async function convertVideo(
  conversion: Conversion,
  { ffmpeg, from, container, to }: { ffmpeg: string; from: string; container: Container; to: string },
): Promise<FfmpegOutcome> {
  const tracks = ["-map", "0:v:0", "-map", "0:a:0?"];
  return runFfmpeg(ffmpeg, {
    from,
    container,
    outputs: [{ words: [...tracks, ...words[conversion], "-f", "mp4"], to }],
  });
}

/** The same conversion as a shell command, for the owner of the file. */
export function conversionCommand(conversion: Conversion, name: string): string {
  const converted = `${name.replace(/\.[^./\\]*$/, "")}-converted.mp4`;
  const options = words[conversion].map((word) => (/^[\w:+-]+$/.test(word) ? word : `"${word}"`));
  return ["ffmpeg", "-i", shellQuoted(name), ...options, shellQuoted(converted)].join(" ");
}

function shellQuoted(text: string): string {
  return /^[\w./-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
