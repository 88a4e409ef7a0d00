import type { Colours } from "./describe-tracks.ts";
import { type Container, type Ffmpeg, type FfmpegOutcome, runFfmpeg } from "./ffmpeg.ts";

/** How ffmpeg makes a file acceptable. What is copied keeps every bit of its picture or sound. */
export interface Conversion {
  /** MP4 for H.264 with AAC, WebM for VP8, VP9 and AV1 with Opus or Vorbis. */
  to: Container;
  /** Named as ffmpeg does: each other track is dropped. */
  picture: { specifier: string; work: "copy" | "encode"; colours: Colours };
  sound: { specifier: string; work: "copy" | "encode" } | undefined;
  /** ffmpeg reads the edit list as if it showed nothing. */
  ignoresEdits?: true;
}

/** For a file whose tracks could not be read: whatever ffmpeg finds in it. */
export const encodeAll: Conversion = {
  to: "mp4",
  picture: { specifier: "0:V:0", work: "encode", colours: "standard" },
  sound: { specifier: "0:a:0?", work: "encode" },
};

/** Frames of two fields become one picture each, at the same rate; whole frames stay. */
const deinterlace = "bwdif=mode=send_frame:deint=interlaced";
// With square pixels, since a poster and many players know no other ones.
const fit = [
  "scale=iw*sar:ih,setsar=1",
  "scale='min(1920,iw)':'min(1920,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2",
].join(",");
/** ITU-R BT.2408: white of graphics has 203 cd/m². Up to half of that nothing is compressed. */
const WHITE_NITS = 203;
const COMPRESSED_FROM = 0.5;

/** Converts the colours to those of 8-bit screens (ITU-R BT.709). Files name a transfer and leave out the rest. */
const toStandard: Record<Colours, string[]> = {
  standard: [],
  "wide-gamut": ["zscale=pin=bt2020:min=bt2020nc:p=bt709:t=bt709:m=bt709:r=tv"],
  hlg: toneMapped("arib-std-b67"),
  pq: toneMapped("smpte2084"),
};

function toneMapped(transfer: string): string[] {
  return [
    `zscale=tin=${transfer}:pin=bt2020:min=bt2020nc:t=linear:npl=${WHITE_NITS}`,
    "format=gbrpf32le,zscale=p=bt709",
    `tonemap=mobius:param=${COMPRESSED_FROM}`,
    "zscale=t=bt709:m=bt709:r=tv",
  ];
}

function wordsOf({ to, picture, sound }: Conversion): string[] {
  const { colours } = picture;
  const filters = [deinterlace, fit, ...toStandard[colours], "format=yuv420p"].join(",");
  // Tone mapping takes as long as encoding, so that encoding has to be quicker: the upload waits for both.
  const toned = ["-preset", "veryfast", "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"];
  // biome-ignore format: packed
  return [
    "-map", picture.specifier, ...(sound ? ["-map", sound.specifier] : []),
    "-map_metadata", "-1", "-map_chapters", "-1",
    ...(picture.work === "copy"
      ? ["-c:v", "copy"]
      : ["-vf", filters, "-c:v", "libx264", "-profile:v", "main", ...(colours === "standard" ? [] : toned)]),
    ...(sound ? ["-c:a", sound.work === "copy" ? "copy" : to === "webm" ? "libopus" : "aac"] : []),
    ...(to === "mp4" ? ["-movflags", "+faststart"] : []),
  ];
}

const ignoringEdits = ["-ignore_editlist", "1"];

/** Converts a file to an acceptable one. */
export async function convertVideo(
  conversion: Conversion,
  { ffmpeg, from, container, to }: { ffmpeg: Ffmpeg; from: string; container: Container; to: string },
): Promise<FfmpegOutcome> {
  return runFfmpeg(ffmpeg, {
    from,
    container,
    inputWords: conversion.ignoresEdits ? ignoringEdits : [],
    outputs: [{ words: [...wordsOf(conversion), "-f", conversion.to], to }],
  });
}

/** The same conversion as a shell command, for the owner of the file. */
export function conversionCommand(conversion: Conversion, name: string): string {
  const converted = `${name.replace(/\.[^./\\]*$/, "")}-converted.${conversion.to}`;
  const input = [...(conversion.ignoresEdits ? ignoringEdits : []), "-i", shellQuoted(name)];
  const options = wordsOf(conversion).map((word) => (/^[\w:+-]+$/.test(word) ? word : `"${word}"`));
  return ["ffmpeg", ...input, ...options, shellQuoted(converted)].join(" ");
}

export function shellQuoted(text: string): string {
  return /^[\w./-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
