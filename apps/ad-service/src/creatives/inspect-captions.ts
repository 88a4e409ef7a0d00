import { parseCaptions } from "@intermission/ad-core/captions";

export const MOST_CAPTION_BYTES = 256 * 1024;

/** Returns the fault of a WebVTT file, for its author; undefined if it can be shown with a video of that duration. */
export function captionsFault(bytes: Uint8Array, { durationMs }: { durationMs: number }): string | undefined {
  if (bytes.byteLength === 0) return "the file is empty";
  if (bytes.byteLength > MOST_CAPTION_BYTES) return `the file is larger than ${MOST_CAPTION_BYTES / 1024} KiB`;
  let file: string;
  try {
    file = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return "the file is not UTF-8; save it again as UTF-8";
  }
  if (!/^WEBVTT(?![^\s])/.test(file)) {
    return "the file does not begin with WEBVTT; convert an .srt file with: ffmpeg -i captions.srt captions.vtt";
  }
  const { cues, faultyLine } = parseCaptions(file);
  if (faultyLine !== undefined) {
    return `line ${faultyLine} has no valid times; write them as 00:01.500 --> 00:04.000`;
  }
  if (!cues.some(({ fromMs, text }) => fromMs < durationMs && text !== "")) {
    return "no caption is shown while the video runs";
  }
  return undefined;
}
