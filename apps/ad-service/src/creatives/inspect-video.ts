import { open } from "node:fs/promises";
import { FilePathSource, Input, MP4, QTFF, WEBM } from "mediabunny";
import { type Container, type Conversion, MOST_PIXELS } from "./ffmpeg.ts";
import { mp4Fault, readBoxes } from "./inspect-mp4.ts";

/** `isVideo`: it may be a video in another container, which its owner can convert. */
export type DetectedContainer =
  | { outcome: "detected"; container: Container }
  | { outcome: "refused"; message: string; isVideo: boolean };

const HEAD_BYTES = 4096;
const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
/** An MP4 or QuickTime file may begin with any of these boxes; MP4 begins with `ftyp`, old QuickTime files do not. */
const FIRST_BOXES = ["ftyp", "moov", "mdat", "free", "skip", "wide", "styp"];

/** Files that reference other files: a program that follows them reads, or publishes, files of this machine. */
const playlists: readonly [start: RegExp, name: string][] = [
  [/^#EXTM3U/i, "an HLS playlist"],
  [/^(ffconcat\b|#?\s*file\s)/i, "a list of files"],
  [/^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<(MPD|SmoothStreamingMedia)\b/i, "a streaming manifest"],
  [/^(<\?xml[^>]*>\s*)?<(smil|asx|playlist)\b/i, "a playlist"],
  [/^(<svg|<\?xml)/i, "an XML document"],
  [/^v=0\s/, "a session description (SDP)"],
  [/^# mpv EDL/i, "an edit list"],
  [/^\[(playlist|reference|InternetShortcut)\]/i, "a playlist"],
  [/^(https?|rtsp|rtmp|file|concat|subfile):/i, "a list of addresses"],
];

/** Detects a file's container by its bytes, not its name, before any program opens it. */
export async function detectContainer(path: string): Promise<DetectedContainer> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head.subarray(0, 4).equals(EBML)) return webmOf(head);
    if (FIRST_BOXES.includes(head.toString("latin1", 4, 8))) {
      const message = await mp4Fault(file, size);
      return message === undefined ? { outcome: "detected", container: "mp4" } : refused(message);
    }
    return describeOther(head);
  } finally {
    await file.close();
  }
}

/** https://www.rfc-editor.org/rfc/rfc8794#section-11.2.6: the DocType is in the first element. */
function webmOf(head: Buffer): DetectedContainer {
  const at = head.indexOf(Buffer.from([0x42, 0x82]));
  const length = at < 0 ? 0 : head.readUInt8(at + 2) & 0x7f;
  const docType = head.toString("latin1", at + 3, at + 3 + length).replace(/\0+$/, "");
  return ["webm", "matroska"].includes(docType)
    ? { outcome: "detected", container: "webm" }
    : refused("the file is not a WebM that could be read");
}

function describeOther(head: Buffer): DetectedContainer {
  const text = head.toString("utf8").replace(/^\ufeff?\s*/, "");
  const playlist = playlists.find(([start]) => start.test(text));
  if (playlist) return refused(`the file is ${playlist[1]}, not a video; upload the video itself as an MP4 or WebM`);
  if (!head.includes(0)) return refused("the file is not an MP4 or WebM, and no video at all by its bytes");
  return { outcome: "refused", message: "the file is not an MP4 or WebM that could be read", isVideo: true };
}

function refused(message: string): DetectedContainer {
  return { outcome: "refused", message, isVideo: false };
}

export interface PlayableVideo {
  outcome: "playable";
  extension: "mp4" | "webm";
  mediaType: "video/mp4" | "video/webm";
  durationMs: number;
  width: number;
  height: number;
}

/**
 * `conversion` makes the file acceptable, if there is such a conversion. `container` is set if the file was read and is
 * within every limit: only then may a program on this machine decode it.
 */
export interface UnplayableVideo {
  outcome: "unplayable";
  message: string;
  conversion?: Conversion;
  container?: Container;
}

const SHORTEST_SECONDS = 1;
const LONGEST_SECONDS = 180;
const LARGEST_SIDE = 4096;
/** Constrained baseline, baseline, main and high: 8 bits, 4:2:0, what every phone decodes. */
const H264_PROFILES = /^avc1\.(42|4d|58|64)/i;

/** Checks whether a file is a video that every Telegram client plays and starts immediately. */
export async function inspectVideo(path: string): Promise<PlayableVideo | UnplayableVideo> {
  const detected = await detectContainer(path);
  if (detected.outcome === "refused") {
    return { outcome: "unplayable", message: detected.message, ...(detected.isVideo && { conversion: "encode" }) };
  }
  const { container } = detected;
  const input = new Input({ source: new FilePathSource(path), formats: [MP4, QTFF, WEBM] });
  try {
    return await judgeTracks(path, container, await describeTracks(input));
  } catch {
    // The reader throws plain errors on bytes that it cannot parse; for an upload this is an expected result.
    return {
      outcome: "unplayable",
      message: "the file is not an MP4 or WebM that could be read",
      conversion: "encode",
    };
  } finally {
    input.dispose();
  }
}

async function judgeTracks(
  path: string,
  container: Container,
  { format, video, audio, ...found }: Awaited<ReturnType<typeof describeTracks>>,
): Promise<PlayableVideo | UnplayableVideo> {
  if (!video) return { outcome: "unplayable", message: "the file contains no video that could be read" };
  const { width, height, seconds } = found;
  // Judged before any conversion: a file that exceeds a limit is not decoded.
  const excess = excessOf(found);
  if (excess !== undefined) return { outcome: "unplayable", message: excess };
  const fault = codecFault(format === WEBM ? "webm" : "mp4", video, audio);
  if (fault) return { outcome: "unplayable", message: fault, conversion: "encode", container };
  if (format === QTFF) {
    return {
      outcome: "unplayable",
      message: "it is a QuickTime file, not an MP4",
      conversion: "fast-start",
      container,
    };
  }
  const size = { durationMs: Math.round(seconds * 1000), width, height };
  if (format === WEBM) return { outcome: "playable", extension: "webm", mediaType: "video/webm", ...size };
  if (await isIndexLast(path)) {
    return {
      outcome: "unplayable",
      message: "its index (moov) is at the end",
      conversion: "fast-start",
      container,
    };
  }
  return { outcome: "playable", extension: "mp4", mediaType: "video/mp4", ...size };
}

interface Extent {
  width: number;
  height: number;
  codedWidth: number;
  codedHeight: number;
  seconds: number;
}

function excessOf({ width, height, codedWidth, codedHeight, seconds }: Extent): string | undefined {
  for (const [w, h] of [
    [width, height],
    [codedWidth, codedHeight],
  ] as const) {
    if (!(w > 0 && h > 0) || Math.max(w, h) > LARGEST_SIDE || w * h > MOST_PIXELS) {
      return `the picture is ${w}×${h}: at most 4096×2304 pixels, or as many in another shape, are accepted`;
    }
  }
  if (seconds >= SHORTEST_SECONDS && seconds <= LONGEST_SECONDS) return undefined;
  return `the video lasts ${seconds.toFixed(1)} s: it must last ${SHORTEST_SECONDS} to ${LONGEST_SECONDS} s`;
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
    codedWidth: video ? await video.getCodedWidth() : 0,
    codedHeight: video ? await video.getCodedHeight() : 0,
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

/** If `moov` follows the picture data, a phone loads the whole file before its first frame: 0.4–1.0 s on slow 4G. */
async function isIndexLast(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const boxes = await readBoxes(file, (await file.stat()).size);
    const order = boxes?.map(({ type }) => type) ?? [];
    return order.indexOf("moov") > order.indexOf("mdat");
  } finally {
    await file.close();
  }
}
