import {
  EncodedPacketSink,
  FilePathSource,
  Input,
  type InputAudioTrack,
  type InputFormat,
  type InputTrack,
  type InputVideoTrack,
  MATROSKA,
  MP4,
  QTFF,
  WEBM,
} from "mediabunny";
import { type Edit, type Mp4Times, type Presentation, presentationOf, shiftOfFirstEdit } from "./edit-list.ts";
import type { Container } from "./ffmpeg.ts";
import { isInterlacedAvc } from "./interlaced-avc.ts";

/** How a picture's colours are stored. Everything but `standard` needs a conversion before an 8-bit screen shows it right. */
export type Colours = "standard" | "wide-gamut" | "hlg" | "pq";

export interface PictureTrack {
  /** ffmpeg's name of the track. */
  specifier: string;
  codec: string | null;
  codecParameters: string;
  colours: Colours;
  /** As shown: turned, and with square pixels. */
  width: number;
  height: number;
  codedWidth: number;
  codedHeight: number;
  /** Its frames may be two fields, each half of the lines, of two moments. */
  isInterlaced: boolean;
  presentation: Presentation;
}

interface SoundTrack {
  specifier: string;
  codec: string | null;
  codecParameters: string;
  presentation: Presentation;
}

const formats = { mp4: MP4, quicktime: QTFF, webm: WEBM, matroska: MATROSKA };

export interface DescribedVideo {
  format: keyof typeof formats;
  /** The tracks that the service shows. Every other track is ignored, or dropped by a conversion. */
  picture: PictureTrack | undefined;
  sound: SoundTrack | undefined;
  /** Further tracks of pictures, of which a browser may choose another one. */
  otherPictures: number;
  /** A further track of sound has an edit list that browsers do not obey. */
  hasOddSound: boolean;
  /** Where the longest further track of sound ends: browsers play on until then. */
  otherSoundSeconds: number;
  /** The length that the file declares, if it does. */
  declaredSeconds: number | undefined;
  /** The number of frames that begin in each second of the presentation. */
  framesBySecond: number[];
}

/** No video that the service accepts has more: 180 s at 240 frames a second. */
const MAX_FRAMES = 43_200;
const MAX_SECONDS = 181;

/**
 * Reads the tracks of a file whose structure was checked. Throws plain errors on bytes that it cannot parse. Of several
 * tracks of sound, one whose codec is in `soundCodecs` is preferred.
 */
export async function describeTracks(
  path: string,
  { container, times, soundCodecs }: { container: Container; times: Mp4Times; soundCodecs: readonly string[] },
): Promise<DescribedVideo> {
  const input = new Input({ source: new FilePathSource(path), formats: Object.values(formats) });
  try {
    const pictures = await input.getVideoTracks();
    const sounds = await input.getAudioTracks();
    const presentations = new Map<InputTrack, Presentation>();
    for (const track of [...pictures, ...sounds]) presentations.set(track, await presentationOfTrack(track, times));
    const lengthOf = (track: InputTrack) => lengthOfPresentation(presentations.get(track));
    const longest = Math.max(...pictures.map(lengthOf));
    // A cover picture or a preview is a track, too, and may even be the default one.
    const isFilm = (track: InputTrack) => lengthOf(track) > 0 && lengthOf(track) * 2 >= longest;
    const isKnown = async (track: InputTrack) => isFilm(track) && (await track.getCodec()) !== null;
    const isHeard = async (track: InputAudioTrack) =>
      lengthOf(track) > 0 && soundCodecs.includes((await track.getCodec()) ?? "");
    const picture =
      (await input.getPrimaryVideoTrack({ filter: isKnown })) ?? (await input.getPrimaryVideoTrack({ filter: isFilm }));
    const sound =
      (await input.getPrimaryAudioTrack({ filter: isHeard })) ??
      (await input.getPrimaryAudioTrack({ filter: (track) => lengthOf(track) > 0 }));
    const describe = (track: InputTrack, kind: "V" | "a", all: readonly InputTrack[]) => ({
      // ffmpeg keeps the ids of MP4's tracks. It adds cover pictures as tracks of their own, which V leaves out.
      specifier: container === "mp4" ? `0:i:${track.id}` : `0:${kind}:${all.indexOf(track)}`,
      presentation: presentations.get(track) ?? { outcome: "nothing" as const },
    });
    const otherSounds = sounds.filter((track) => track !== sound).map((track) => presentations.get(track));
    return {
      format: nameOf(await input.getFormat()),
      picture: picture ? { ...describe(picture, "V", pictures), ...(await describePicture(picture)) } : undefined,
      sound: sound ? { ...describe(sound, "a", sounds), ...(await describeSound(sound)) } : undefined,
      otherPictures: picture ? pictures.length - 1 : 0,
      hasOddSound: otherSounds.some((presentation) => presentation?.outcome !== "whole"),
      otherSoundSeconds: Math.max(0, ...otherSounds.map((shown) => (shown && "to" in shown ? shown.to : 0))),
      declaredSeconds: (await input.getDurationFromMetadata()) ?? undefined,
      framesBySecond: picture ? await countFrames(picture) : [],
    };
  } finally {
    input.dispose();
  }
}

function nameOf(format: InputFormat): keyof typeof formats {
  for (const name of ["mp4", "quicktime", "webm", "matroska"] as const) if (formats[name] === format) return name;
  throw new Error(`an unexpected format: ${format.name}`);
}

function lengthOfPresentation(presentation: Presentation | undefined): number {
  return presentation && presentation.outcome !== "nothing" ? presentation.to - presentation.from : 0;
}

async function presentationOfTrack(track: InputTrack, { edits, isFragmented }: Mp4Times): Promise<Presentation> {
  const list: readonly Edit[] = edits.get(track.id) ?? [];
  const shift = shiftOfFirstEdit(list);
  const media = { from: (await track.getFirstTimestamp()) + shift, to: (await track.computeDuration()) + shift };
  return media.to > media.from ? presentationOf(list, media, { isFragmented }) : { outcome: "nothing" };
}

async function describePicture(track: InputVideoTrack) {
  const { transfer, primaries } = await track.getColorSpace();
  const colours: Colours =
    transfer === "hlg" || transfer === "pq" ? transfer : primaries === "bt2020" ? "wide-gamut" : "standard";
  const codec = await track.getCodec();
  return {
    codec,
    isInterlaced: codec === "avc" && isInterlacedAvc(await descriptionOf(track)),
    codecParameters: (await track.getCodecParameterString()) ?? "",
    colours,
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    codedWidth: await track.getCodedWidth(),
    codedHeight: await track.getCodedHeight(),
  };
}

async function describeSound(track: InputAudioTrack) {
  // The reader throws where AAC lacks its configuration: no profile is known then.
  const parameters = await track.getCodecParameterString().catch(() => null);
  return { codec: await track.getCodec(), codecParameters: parameters ?? "" };
}

/** The decoder's configuration: of H.264 the `avcC` box. */
async function descriptionOf(track: InputVideoTrack): Promise<Uint8Array> {
  const description = (await track.getDecoderConfig())?.description;
  if (description === undefined) return new Uint8Array();
  if (!ArrayBuffer.isView(description)) return new Uint8Array(description);
  return new Uint8Array(description.buffer, description.byteOffset, description.byteLength);
}

async function countFrames(track: InputVideoTrack): Promise<number[]> {
  const frames: number[] = [];
  let count = 0;
  for await (const { timestamp } of new EncodedPacketSink(track).packets(undefined, undefined, {
    metadataOnly: true,
  })) {
    if (++count > MAX_FRAMES) break;
    const second = Math.floor(timestamp);
    if (second >= 0 && second < MAX_SECONDS) frames[second] = (frames[second] ?? 0) + 1;
  }
  return Array.from(frames, (count) => count ?? 0);
}
