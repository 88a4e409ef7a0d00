import { stat, truncate } from "node:fs/promises";
import { type FileFault, type FileWord, fileFault, textOfFileFault } from "@intermission/operator-api/file-faults";
import { type Conversion, encodeAll } from "./convert-video.ts";
import type { Colours, DescribedVideo, PictureTrack } from "./describe-tracks.ts";
import { detectContainer } from "./detect-container.ts";
import { type Mp4Times, readMp4Times } from "./edit-list.ts";
import { type Container, MAX_PIXELS } from "./ffmpeg.ts";

export interface PlayableVideo {
  outcome: "playable";
  extension: "mp4" | "webm";
  mediaType: "video/mp4" | "video/webm";
  durationMs: number;
  width: number;
  height: number;
  /** The number of frames that begin in each second. */
  framesBySecond: number[];
}

/**
 * `conversion` makes the file acceptable, if there is such a conversion. `container` is set if the file was read and is
 * within every limit: only then may a program on this machine decode it. `seconds` is the length
 * that the conversion must result in, if the file tells it.
 */
export interface UnplayableVideo {
  outcome: "unplayable";
  faults: readonly FileFault[];
  conversion?: Conversion;
  container?: Container;
  seconds?: number;
}

const MIN_SECONDS = 1;
const MAX_SECONDS = 180;
const MAX_SIDE = 4096;
/**
 * The profiles that every phone decodes, as in `codecs` parameters (RFC 6381). Pictures of 8 bits and 4:2:0; H.264:
 * constrained baseline, baseline, main and high. AAC: LC and HE, with and without PS; browsers skip the sound of others, such
 * as xHE-AAC, or give up its file.
 */
const profiles = new Map([
  ["avc", /^avc1\.(42|4d|58|64)/i],
  ["vp9", /^vp09\.00/],
  ["av1", /^av01\.0\.\w+\.08/],
  ["aac", /^mp4a\.(?:40\.(?:2|5|29)|67)$/],
]);
/** Browsers skip a late beginning and then declare a length without it. */
const MAX_LATE_SECONDS = 0.1;
const MAX_DRIFT_SECONDS = 0.25;

/** The codecs that phones play, by container. */
const codecs: Record<Container, { picture: readonly string[]; sound: readonly string[] }> = {
  mp4: { picture: ["avc"], sound: ["aac"] },
  webm: { picture: ["vp8", "vp9", "av1"], sound: ["opus", "vorbis"] },
};

/**
 * Checks whether a file is a video that every Telegram client plays alike and starts immediately. What stands behind the
 * video's end is cut off the file.
 */
export async function inspectVideo(path: string): Promise<PlayableVideo | UnplayableVideo> {
  const detected = await detectContainer(path);
  if (detected.outcome === "refused") {
    return { outcome: "unplayable", faults: [detected.fault], ...(detected.isVideo && { conversion: encodeAll }) };
  }
  const { container, end } = detected;
  // Cut off: neither this service nor a phone has any use for it, and a phone's own data may say where it was.
  if (end < (await stat(path)).size) await truncate(path, end);
  // Its library has 2 MB of source: it is loaded with the first upload.
  const { describeTracks } = await import("./describe-tracks.ts");
  try {
    const times =
      container === "mp4" ? await readMp4Times(path) : { edits: new Map(), isFragmented: false, isIndexLast: false };
    const soundCodecs = container === "mp4" ? codecs.mp4.sound : [...codecs.webm.sound, ...codecs.mp4.sound];
    return judge(await describeTracks(path, { container, times, soundCodecs }), { container, times });
  } catch {
    // The reader throws plain errors on bytes that it cannot parse; for an upload this is an expected result.
    return { outcome: "unplayable", faults: [fileFault("FILE_UNREADABLE")], conversion: encodeAll };
  }
}

/** What is wrong with a file, and what must be encoded again for it. Without either, copying the tracks is enough. */
interface Fault {
  fault: FileFault;
  picture?: "encode";
  sound?: "encode";
}

function judge(
  video: DescribedVideo,
  { container, times }: { container: Container; times: Mp4Times },
): PlayableVideo | UnplayableVideo {
  const { picture, sound, framesBySecond } = video;
  if (!picture) return { outcome: "unplayable", faults: [fileFault("VIDEO_MISSING")] };
  const { from, to } = extentOf(video);
  // Judged before any conversion: a file that exceeds a limit is not decoded.
  const excess = excessOf(picture, to - from);
  if (excess !== undefined) return { outcome: "unplayable", faults: [excess] };
  const family = codecs.webm.picture.includes(picture.codec ?? "") ? "webm" : "mp4";
  const faults = [
    ...codecFaults(video, container === "mp4" ? "mp4" : family),
    ...colourFaults(picture),
    ...(picture.isInterlaced ? [{ fault: fileFault("VIDEO_INTERLACED"), picture: "encode" as const }] : []),
    ...editFaults(video),
    ...containerFaults(video, { family, times, from, to }),
  ];
  if (faults.length > 0) {
    const pictureWork = faults.some((fault) => fault.picture) ? "encode" : "copy";
    const target = pictureWork === "copy" ? family : "mp4";
    const isSoundKept =
      !faults.some((fault) => fault.sound) && codecs[target].sound.includes(sound?.codec ?? "") && sound !== undefined;
    return {
      outcome: "unplayable",
      faults: faults.map(({ fault }) => fault),
      container,
      ...(!times.isFragmented && { seconds: to - from }),
      conversion: {
        to: target,
        picture: { specifier: picture.specifier, work: pictureWork, colours: picture.colours },
        sound: sound && { specifier: sound.specifier, work: isSoundKept ? "copy" : "encode" },
        ...(isEmptyEdit(video) && { ignoresEdits: true }),
      },
    };
  }
  const size = { durationMs: Math.round(to * 1000), width: picture.width, height: picture.height, framesBySecond };
  return container === "mp4"
    ? { outcome: "playable", extension: "mp4", mediaType: "video/mp4", ...size }
    : { outcome: "playable", extension: "webm", mediaType: "video/webm", ...size };
}

function excessOf({ width, height, codedWidth, codedHeight }: PictureTrack, seconds: number): FileFault | undefined {
  for (const [w, h] of [
    [width, height],
    [codedWidth, codedHeight],
  ] as const) {
    if (!(w > 0 && h > 0) || Math.max(w, h) > MAX_SIDE || w * h > MAX_PIXELS) {
      return fileFault("VIDEO_SIZE", { width: String(w), height: String(h) });
    }
  }
  if (seconds >= MIN_SECONDS && seconds <= MAX_SECONDS) return undefined;
  const [min, max] = [String(MIN_SECONDS), String(MAX_SECONDS)];
  return fileFault("VIDEO_SECONDS", { seconds: seconds.toFixed(1), min, max });
}

/** Where the presentation of picture and sound begins and ends. */
function extentOf({ picture, sound }: DescribedVideo): { from: number; to: number } {
  const shown = [picture, sound].flatMap((track) => (track && "to" in track.presentation ? [track.presentation] : []));
  return { from: Math.max(0, Math.min(...shown.map(({ from }) => from))), to: Math.max(...shown.map(({ to }) => to)) };
}

function codecFaults({ picture, sound }: DescribedVideo, family: Container): Fault[] {
  const faults: Fault[] = [];
  const { codec = null, codecParameters = "" } = picture ?? {};
  if (!codec || !codecs[family].picture.includes(codec)) {
    faults.push({ fault: fileFault("VIDEO_CODEC", { codec: codec ?? "" }), picture: "encode" });
  } else if (profiles.get(codec)?.test(codecParameters) === false) {
    const named = { codec: codec === "avc" ? "H.264" : codec, profile: codecParameters };
    faults.push({ fault: fileFault("VIDEO_PROFILE", named), picture: "encode" });
  }
  const isOtherProfile = profiles.get(sound?.codec ?? "")?.test(sound?.codecParameters ?? "") === false;
  if (sound && (isOtherProfile || !codecs[family].sound.includes(sound.codec ?? ""))) {
    const named = isOtherProfile ? sound.codecParameters : (sound.codec ?? "");
    faults.push({ fault: fileFault("VIDEO_SOUND_CODEC", { codec: named }), sound: "encode" });
  }
  return faults;
}

const namesOfColours: Record<Exclude<Colours, "standard">, FileWord> = {
  "wide-gamut": "a wide gamut (BT.2020)",
  hlg: "high dynamic range (HLG)",
  pq: "high dynamic range (PQ)",
};

function colourFaults({ colours }: PictureTrack): Fault[] {
  if (colours === "standard") return [];
  return [{ fault: fileFault("VIDEO_COLOURS", { colours: namesOfColours[colours] }), picture: "encode" }];
}

function editFaults({ picture, sound }: DescribedVideo): Fault[] {
  const edited = [picture?.presentation, sound?.presentation].flatMap((shown) =>
    shown?.outcome === "edited" ? [shown] : [],
  );
  const byText = new Map(edited.map(({ fault }) => [textOfFileFault(fault), fault]));
  return [...byText.values()].map((fault) => ({ fault, picture: "encode", sound: "encode" }));
}

function isEmptyEdit({ picture, sound }: DescribedVideo): boolean {
  return [picture, sound].some((track) => track?.presentation.outcome === "edited" && track.presentation.isEmptyEdit);
}

function containerFaults(
  { format, otherPictures, hasOddSound, otherSoundSeconds, declaredSeconds }: DescribedVideo,
  { family, times, from, to }: { family: Container; times: Mp4Times; from: number; to: number },
): Fault[] {
  const isMatroska = format === "matroska" || (format === "webm" && family === "mp4");
  const isDeclared = declaredSeconds !== undefined && Math.abs(declaredSeconds - to) <= MAX_DRIFT_SECONDS;
  const facts: [fault: FileFault, isTrue: boolean][] = [
    [fileFault("VIDEO_QUICKTIME"), format === "quicktime"],
    [fileFault("VIDEO_MATROSKA", { container: family === "mp4" ? "an MP4" : "a WebM" }), isMatroska],
    [fileFault("VIDEO_INDEX_LAST"), times.isIndexLast],
    [fileFault("VIDEO_FRAGMENTED"), times.isFragmented],
    [fileFault("VIDEO_LENGTH_WRONG"), format === "webm" && !isDeclared],
    [fileFault("VIDEO_BEGINS_LATE", { seconds: from.toFixed(1) }), from > MAX_LATE_SECONDS],
    [fileFault("VIDEO_MORE_PICTURES", { tracks: String(otherPictures + 1) }), otherPictures > 0],
    [fileFault("VIDEO_MORE_SOUND_LONGER"), otherSoundSeconds - to > MAX_DRIFT_SECONDS],
    [fileFault("VIDEO_MORE_SOUND_EDITED"), hasOddSound],
  ];
  return facts.filter(([, isTrue]) => isTrue).map(([fault]) => ({ fault }));
}
