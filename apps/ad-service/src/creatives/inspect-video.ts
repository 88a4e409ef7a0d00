import { open } from "node:fs/promises";
import { FilePathSource, Input, MP4, QTFF, WEBM } from "mediabunny";
import type { Mending } from "./mend-video.ts";
import { readBoxOrder } from "./read-box-order.ts";

export interface PlayableVideo {
  outcome: "playable";
  extension: "mp4" | "webm";
  mediaType: "video/mp4" | "video/webm";
  durationMs: number;
  width: number;
  height: number;
}

/** `mend` is what makes the file acceptable, where something does. */
export interface UnplayableVideo {
  outcome: "unplayable";
  message: string;
  mend?: Mending;
}

const SHORTEST_SECONDS = 1;
const LONGEST_SECONDS = 180;
/** Constrained baseline, baseline, main and high: 8 bits, 4:2:0, what every phone decodes. */
const H264_PROFILES = /^avc1\.(42|4d|58|64)/i;

/** Whether a file is a video that every Telegram client plays and starts at once. */
export async function inspectVideo(path: string): Promise<PlayableVideo | UnplayableVideo> {
  const input = new Input({ source: new FilePathSource(path), formats: [MP4, QTFF, WEBM] });
  try {
    const found = await describeTracks(input);
    if (!found.video) return { outcome: "unplayable", message: "the file holds no video that could be read" };
    const fault = codecFault(found.format === WEBM ? "webm" : "mp4", found.video, found.audio);
    if (fault) return { outcome: "unplayable", message: fault, mend: "encode" };
    if (found.format === QTFF) {
      return { outcome: "unplayable", message: "it is a QuickTime file, not an MP4", mend: "fast-start" };
    }
    if (!(found.seconds >= SHORTEST_SECONDS && found.seconds <= LONGEST_SECONDS)) {
      const limits = `it must last ${SHORTEST_SECONDS} to ${LONGEST_SECONDS} s`;
      return { outcome: "unplayable", message: `the video lasts ${found.seconds.toFixed(1)} s: ${limits}` };
    }
    const { width, height, seconds } = found;
    const size = { durationMs: Math.round(seconds * 1000), width, height };
    if (found.format === WEBM) return { outcome: "playable", extension: "webm", mediaType: "video/webm", ...size };
    const boxFault = await mp4Fault(path);
    return boxFault ?? { outcome: "playable", extension: "mp4", mediaType: "video/mp4", ...size };
  } catch {
    // The reader throws plain errors on bytes that it cannot follow: for an upload that is an expected result.
    return {
      outcome: "unplayable",
      message: "the file is not an MP4 or WebM that could be read",
      mend: "encode",
    };
  } finally {
    input.dispose();
  }
}

async function describeTracks(input: Input) {
  const [format, video, audio] = await Promise.all([
    input.getFormat(),
    input.getPrimaryVideoTrack(),
    input.getPrimaryAudioTrack(),
  ]);
  return {
    format,
    video: video && { codec: await video.getCodec(), profile: (await video.getCodecParameterString()) ?? "" },
    audio: audio && { codec: await audio.getCodec() },
    width: video ? await video.getDisplayWidth() : 0,
    height: video ? await video.getDisplayHeight() : 0,
    seconds: await input.computeDuration(),
  };
}

function codecFault(
  container: "mp4" | "webm",
  video: { codec: string | null; profile: string },
  audio: { codec: string | null } | null,
): string | undefined {
  const videoCodecs = container === "mp4" ? ["avc"] : ["vp8", "vp9", "av1"];
  const audioCodecs = container === "mp4" ? ["aac"] : ["opus", "vorbis"];
  if (!video.codec || !videoCodecs.includes(video.codec)) {
    return `its video is ${video.codec ?? "of an unknown codec"}; an MP4 needs H.264, a WebM VP8, VP9 or AV1`;
  }
  if (video.codec === "avc" && !H264_PROFILES.test(video.profile)) {
    return `its H.264 profile (${video.profile}) is not played by phones; 8-bit 4:2:0 is needed`;
  }
  if (audio && (!audio.codec || !audioCodecs.includes(audio.codec))) {
    return `its audio is ${audio.codec ?? "of an unknown codec"}; an MP4 needs AAC, a WebM Opus or Vorbis`;
  }
  return undefined;
}

/** With `moov` behind the picture data a phone loads the whole file before its first frame: 0.4–1.0 s on slow 4G. */
async function mp4Fault(path: string): Promise<UnplayableVideo | undefined> {
  const file = await open(path, "r");
  try {
    const order = await readBoxOrder(file, (await file.stat()).size);
    if (!order) return { outcome: "unplayable", message: "the file was cut short" };
    if (order.indexOf("moov") > order.indexOf("mdat")) {
      return { outcome: "unplayable", message: "its index (moov) stands at the end", mend: "fast-start" };
    }
    return undefined;
  } finally {
    await file.close();
  }
}
