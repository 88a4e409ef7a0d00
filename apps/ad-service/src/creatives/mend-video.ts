import { runFfmpeg } from "./run-ffmpeg.ts";

/** `fast-start` moves the index to the front and keeps every picture; `encode` makes the video anew. */
export type Mending = "fast-start" | "encode";

const words: Record<Mending, string[]> = {
  "fast-start": ["-c", "copy", "-movflags", "+faststart"],
  encode: ["-c:v", "libx264", "-profile:v", "main", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart"],
};

/** Makes an acceptable MP4 of a file. False: ffmpeg is not on this machine, or could not. */
export async function mendVideo(
  mending: Mending,
  { ffmpeg, from, to }: { ffmpeg: string; from: string; to: string },
): Promise<boolean> {
  return runFfmpeg(ffmpeg, ["-i", from, ...words[mending], "-f", "mp4", to]);
}

/** The same as a command for whoever has the file. */
export function mendCommand(mending: Mending, name: string): string {
  const mended = `${name.replace(/\.[^./\\]*$/, "")}-mended.mp4`;
  return ["ffmpeg", "-i", shellQuoted(name), ...words[mending], shellQuoted(mended)].join(" ");
}

function shellQuoted(text: string): string {
  return /^[\w./-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
