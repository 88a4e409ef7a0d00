import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pLimit, { type LimitFunction } from "p-limit";

const run = promisify(execFile);
const MAX_RUN_MS = 5 * 60_000;
const MAX_AT_ONCE = 2;
const MAX_WAITING = 16;
const THREADS = 2;
/** 4096×2304, or any other picture with as many pixels; 12,000×12,000 took 1.6 GB. */
export const MAX_PIXELS = 4096 * 2304;
/** Address space: encoding 4096×2304 needs less than 1 GB. Systems without such a limit ignore it. */
const MAX_MEMORY_KB = 1536 * 1024;
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;
const MAX_OUTPUT_BYTES = 101 * 1024 * 1024;
const MAX_OUTPUT_SECONDS = 181;

/** The two families of containers that are read: MP4 with QuickTime, and WebM with Matroska. */
export type Container = "mp4" | "webm";

/** What ffmpeg reads here: a video, or an uploaded picture by its ending. */
type Format = Container | "jpg" | "png" | "webp";

const demuxers: Record<Format, string[]> = {
  mp4: ["-f", "mov", "-format_whitelist", "mov", "-enable_drefs", "0", "-use_absolute_path", "0"],
  webm: ["-f", "matroska", "-format_whitelist", "matroska,webm"],
  jpg: ["-f", "jpeg_pipe", "-format_whitelist", "jpeg_pipe"],
  png: ["-f", "png_pipe", "-format_whitelist", "png_pipe"],
  webp: ["-f", "webp_pipe", "-format_whitelist", "webp_pipe"],
};
/** Codecs of cameras, editors and screen recorders; ffmpeg knows hundreds more. */
// biome-ignore format: packed
const DECODERS = [
  "h264", "hevc", "mpeg4", "mpeg2video", "mpeg1video", "h263", "prores", "dnxhd", "mjpeg",
  "vp8", "vp9", "av1", "libvpx", "libvpx-vp9", "libdav1d", "libaom-av1",
  "aac", "aac_fixed", "mp3", "mp3float", "ac3", "eac3", "alac", "flac", "opus", "libopus", "vorbis", "libvorbis",
  "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_f32le", "pcm_alaw", "pcm_mulaw",
].join(",");
const decoders: Record<Format, string> = {
  mp4: DECODERS,
  webm: DECODERS,
  jpg: "mjpeg",
  png: "png",
  webp: "webp",
};
/** A phone's photo has up to 50 megapixels, and is one frame. */
export const MAX_PIXELS_OF_PICTURE = 50_000_000;

export type FfmpegOutcome = "done" | "failed" | "missing" | "too-long" | "busy";

interface FfmpegWork {
  from: string;
  /** The format that our own inspection found: ffmpeg must not guess, since it accepts playlists as videos. */
  container: Format;
  /** Options of the input, such as where to start. */
  inputWords?: readonly string[];
  /** All outputs with their options. */
  outputs: readonly { words: readonly string[]; to: string }[];
  maxMs?: number | undefined;
}

/** The ffmpeg of this machine, and what runs or waits of it in this process. */
export interface Ffmpeg {
  /** Name or path; it need not be installed. */
  readonly program: string;
  readonly slots: LimitFunction;
}

export const openFfmpeg = (program = "ffmpeg"): Ffmpeg => ({ program, slots: pLimit(MAX_AT_ONCE) });

/**
 * Makes files of one local video. ffmpeg opens no other file and no address, decodes only usual codecs of videos, and
 * its time, memory, threads, pixels and output are bounded; two run at the same time in this process, sixteen wait.
 */
export async function runFfmpeg({ program, slots }: Ffmpeg, work: FfmpegWork): Promise<FfmpegOutcome> {
  if (slots.activeCount + slots.pendingCount >= MAX_AT_ONCE + MAX_WAITING) return "busy";
  return slots(() => runNow(program, work));
}

async function runNow(program: string, work: FfmpegWork): Promise<FfmpegOutcome> {
  const { maxMs = MAX_RUN_MS } = work;
  const [command, ...words] = limited(program, wordsOf(work), maxMs);
  try {
    await run(command, words, { timeout: maxMs, killSignal: "SIGKILL" });
    return "done";
  } catch (error) {
    const { code, killed } = error as { code?: number | string; killed?: boolean };
    if (killed) return "too-long";
    return code === "ENOENT" || code === 127 ? "missing" : "failed";
  }
}

function wordsOf({ from, container, inputWords = [], outputs }: FfmpegWork): string[] {
  const isVideo = container === "mp4" || container === "webm";
  // biome-ignore format: packed
  return [
    "-nostdin", "-hide_banner", "-v", "error", "-y", "-max_alloc", `${MAX_BLOCK_BYTES}`, "-filter_threads", "1",
    "-protocol_whitelist", "file", ...demuxers[container], "-codec_whitelist", decoders[container],
    "-max_streams", "16", "-max_pixels", `${isVideo ? MAX_PIXELS : MAX_PIXELS_OF_PICTURE}`, "-threads", `${THREADS}`,
    ...inputWords, "-i", `file:${from}`,
    ...outputs.flatMap(({ words, to }) => [
      "-sn", "-dn", "-t", `${MAX_OUTPUT_SECONDS}`, "-fs", `${MAX_OUTPUT_BYTES}`, "-threads", `${THREADS}`,
      ...words, `file:${to}`,
    ]),
  ];
}

/** Sets the shell's limits, which a program keeps when it replaces the shell. */
function limited(program: string, words: readonly string[], maxMs: number): [string, ...string[]] {
  if (process.platform === "win32") return [program, ...words];
  const cpuSeconds = Math.ceil(maxMs / 1000) * THREADS + 1;
  const limits = `ulimit -c 0; ulimit -t ${cpuSeconds}; ulimit -v ${MAX_MEMORY_KB}`;
  return ["/bin/sh", "-c", `{ ${limits}; } 2>/dev/null; exec "$0" "$@"`, program, ...words];
}
