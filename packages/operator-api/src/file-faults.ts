import { durationInEnglish } from "./duration-text.ts";

/**
 * What can be wrong with an uploaded file: a stable code, and the values that its sentence needs. A refusal (400) has them in
 * `details`, with the field `file`; a screen has a sentence in each language.
 */
export const fileFaults = {
  CAPTIONS_HEAD: [],
  CAPTIONS_LANGUAGE: ["language"],
  CAPTIONS_LANGUAGES: ["max"],
  CAPTIONS_NEVER_SHOWN: [],
  CAPTIONS_NOT_UTF8: [],
  CAPTIONS_TIMES: ["line"],
  CONVERSION_TOO_LONG: [],
  CONVERT_WITH: ["command"],
  DOWNLOAD: ["reason"],
  FILE_EMPTY: [],
  FILE_INDEX: ["fault"],
  FILE_INDEX_MISSING: [],
  FILE_IS_OTHER: ["kind"],
  FILE_NO_VIDEO: [],
  FILE_OTHER_MEDIA: [],
  FILE_SAMPLES: ["max"],
  FILE_TOO_LARGE: ["max"],
  FILE_TRACKS: ["max"],
  FILE_TRUNCATED: [],
  FILE_UNREADABLE: [],
  PICTURE_ANIMATED: ["kind"],
  PICTURE_IS_OTHER: ["kind"],
  PICTURE_NEEDS_FFMPEG: [],
  PICTURE_NOT_SQUARE: ["max"],
  PICTURE_PIXELS: ["width", "height", "max"],
  PICTURE_SIDES: ["width", "height", "min", "max"],
  PICTURE_TURNED: [],
  PICTURE_UNREADABLE: [],
  SERVER_BUSY: [],
  TAG_HAS_NO_CAPTIONS: [],
  TAG_HAS_NO_POSTER: [],
  VIDEO_BEGINS_LATE: ["seconds"],
  VIDEO_CODEC: ["codec"],
  VIDEO_COLOURS: ["colours"],
  VIDEO_EDITS_LENGTH: [],
  VIDEO_EDITS_PARTS: ["parts"],
  VIDEO_EDITS_SHOWN: ["seconds", "of"],
  VIDEO_EDITS_SPEED: [],
  VIDEO_FRAGMENTED: [],
  VIDEO_INDEX_LAST: [],
  VIDEO_INTERLACED: [],
  VIDEO_LENGTH_WRONG: [],
  VIDEO_MATROSKA: ["container"],
  VIDEO_MISSING: [],
  VIDEO_MORE_PICTURES: ["tracks"],
  VIDEO_MORE_SOUND_EDITED: [],
  VIDEO_MORE_SOUND_LONGER: [],
  VIDEO_PROFILE: ["codec", "profile"],
  VIDEO_QUICKTIME: [],
  VIDEO_SECONDS: ["seconds", "min", "max"],
  VIDEO_SIZE: ["width", "height"],
  VIDEO_SOUND_CODEC: ["codec"],
} as const satisfies Record<string, readonly string[]>;

/** Values that are words, not names or numbers: a screen has each in its language. */
export type FileWord =
  | "an HLS playlist"
  | "a list of files"
  | "a streaming manifest"
  | "a playlist"
  | "an XML document"
  | "a session description (SDP)"
  | "an edit list"
  | "a list of addresses"
  | "a PNG picture"
  | "a JPEG picture"
  | "a WebP picture"
  | "a GIF picture"
  | "a BMP picture"
  | "a TIFF picture"
  | "a JPEG XL picture"
  | "an AVIF picture"
  | "a HEIC picture"
  | "an SVG picture"
  | "a web page"
  | "an animated PNG"
  | "an animated WebP"
  | "a PDF document"
  | "an archive (ZIP)"
  | "a sound file"
  | "a wide gamut (BT.2020)"
  | "high dynamic range (HLG)"
  | "high dynamic range (PQ)"
  | "an MP4"
  | "a WebM";

export type FileFaultCode = keyof typeof fileFaults;

/** The type of a value, by its name. */
export type FileFaultValue<Name extends string> = Name extends "kind" | "colours" | "container" ? FileWord : string;

type FileFaultValues<Code extends FileFaultCode> = {
  readonly [Name in (typeof fileFaults)[Code][number]]: FileFaultValue<Name>;
};

export interface FileFault {
  readonly code: FileFaultCode;
  readonly values: Readonly<Record<string, string>>;
}

/** A fault with the values that its sentence needs: without one, it does not compile. */
export function fileFault<Code extends FileFaultCode>(
  code: Code,
  ...[values]: keyof FileFaultValues<Code> extends never ? [] : [values: FileFaultValues<Code>]
): FileFault {
  return { code, values: values ?? {} };
}

type FileFaultTexts = { readonly [Code in FileFaultCode]: (values: FileFaultValues<Code>) => string };

/** In English, each a clause without a full stop: the command line joins those of a file. */
export const fileFaultTexts: FileFaultTexts = {
  CAPTIONS_HEAD: () =>
    "the file does not begin with WEBVTT; convert an .srt file with: ffmpeg -i captions.srt captions.vtt",
  CAPTIONS_LANGUAGE: ({ language }) => `${language} is not a language; write it as en or pt-BR`,
  CAPTIONS_LANGUAGES: ({ max }) => `it has captions in ${max} languages; remove one first`,
  CAPTIONS_NEVER_SHOWN: () => "no caption is shown while the video runs",
  CAPTIONS_NOT_UTF8: () => "the file is not UTF-8; save it again as UTF-8",
  CAPTIONS_TIMES: ({ line }) => `line ${line} has no valid times; write them as 00:01.500 --> 00:04.000`,
  CONVERSION_TOO_LONG: () => "converting it here takes too long",
  CONVERT_WITH: ({ command }) => `convert it with: ${command}`,
  DOWNLOAD: ({ reason }) => reason,
  FILE_EMPTY: () => "the file is empty",
  FILE_INDEX: ({ fault }) => `its index ${fault}`,
  FILE_INDEX_MISSING: () => "the file has no index (moov)",
  FILE_IS_OTHER: ({ kind }) => `the file is ${kind}, not a video; upload the video itself as an MP4 or WebM`,
  FILE_NO_VIDEO: () => "the file is not an MP4 or WebM, and no video at all by its bytes",
  FILE_OTHER_MEDIA: () => "its media lies in other files, which it names",
  FILE_SAMPLES: ({ max }) => `one of its tracks has more than ${max} frames, or sound of more than 192 kHz`,
  FILE_TOO_LARGE: ({ max }) => `the file is larger than ${max}`,
  FILE_TRACKS: ({ max }) => `it has more than ${max} tracks`,
  FILE_TRUNCATED: () => "the file is truncated",
  FILE_UNREADABLE: () => "the file is not an MP4 or WebM that could be read",
  PICTURE_ANIMATED: ({ kind }) => `the picture is ${kind}; it must stand still`,
  PICTURE_IS_OTHER: ({ kind }) => `the file is ${kind}, not a JPEG, PNG or WebP picture`,
  PICTURE_NEEDS_FFMPEG: () => "the server has no ffmpeg, so a picture must be made into a video before",
  PICTURE_NOT_SQUARE: ({ max }) =>
    `the server has no ffmpeg, so the picture must be a square of at most ${max}×${max} pixels and 1 MiB`,
  PICTURE_PIXELS: ({ width, height, max }) => `the picture is ${width}×${height}: that is more than ${max} pixels`,
  PICTURE_SIDES: ({ width, height, min, max }) =>
    `the picture is ${width}×${height}: each side must have ${min} to ${max} pixels`,
  PICTURE_TURNED: () => "the picture is stored turned or mirrored (EXIF orientation), which not every screen undoes",
  PICTURE_UNREADABLE: () => "the file is not a JPEG, PNG or WebP picture that could be read",
  SERVER_BUSY: () => "the server is busy with other videos; add it again in a minute",
  TAG_HAS_NO_CAPTIONS: () => "a VAST tag has no video of its own, so it cannot have captions",
  TAG_HAS_NO_POSTER: () => "a VAST tag has no video of its own, so it cannot have a poster",
  VIDEO_BEGINS_LATE: ({ seconds }) => `it begins with ${seconds} s of nothing`,
  VIDEO_CODEC: ({ codec }) =>
    `its video is ${codec || "of an unknown codec"}; an MP4 needs H.264, a WebM VP8, VP9 or AV1`,
  VIDEO_COLOURS: ({ colours }) => `its picture has ${colours}, which many screens show grey`,
  VIDEO_EDITS_LENGTH: () => "its edit list has a part without a length, at which browsers end",
  VIDEO_EDITS_PARTS: ({ parts }) => `its edit list has ${parts} parts, of which browsers play only the first`,
  VIDEO_EDITS_SHOWN: ({ seconds, of }) => `its edit list shows ${seconds} s of ${of} s, which browsers do not obey`,
  VIDEO_EDITS_SPEED: () => "its edit list changes the speed, which browsers do not",
  VIDEO_FRAGMENTED: () => "it is a fragmented MP4, whose length browsers learn only at its end",
  VIDEO_INDEX_LAST: () => "its index (moov) is at the end",
  VIDEO_INTERLACED: () => "its picture is interlaced, which phones show with combs",
  VIDEO_LENGTH_WRONG: () => "it declares no length, or a wrong one",
  VIDEO_MATROSKA: ({ container }) => `it is a Matroska file, not ${container}`,
  VIDEO_MISSING: () => "the file contains no video that could be read",
  VIDEO_MORE_PICTURES: ({ tracks }) => `it has ${tracks} tracks of pictures, of which browsers may show another`,
  VIDEO_MORE_SOUND_EDITED: () => "it has a further track of sound with an edit list that browsers do not obey",
  VIDEO_MORE_SOUND_LONGER: () => "it has a further track of sound that lasts longer than the video",
  VIDEO_PROFILE: ({ codec, profile }) =>
    `its ${codec} profile (${profile}) is not played by phones; 8-bit 4:2:0 is needed`,
  VIDEO_QUICKTIME: () => "it is a QuickTime file, not an MP4",
  VIDEO_SECONDS: ({ seconds, min, max }) =>
    `the video lasts ${durationInEnglish(Number(seconds))}: it must last ${min} to ${max} s`,
  VIDEO_SIZE: ({ width, height }) =>
    `the picture is ${width}×${height}: at most 4096×2304 pixels, or as many in another shape, are accepted`,
  VIDEO_SOUND_CODEC: ({ codec }) =>
    `its audio is ${codec || "of an unknown codec"}; an MP4 needs AAC (LC or HE), a WebM Opus or Vorbis`,
};

/** A fault in English, without a full stop. */
export function textOfFileFault({ code, values }: FileFault): string {
  // The values are those of this code; a union of codes loses which they are.
  const text = fileFaultTexts[code] as (values: Readonly<Record<string, string>>) => string;
  return text(values);
}

/** The faults of a file in English, as one sentence without a full stop. */
export function textOfFileFaults(faults: readonly FileFault[]): string {
  return faults.map(textOfFileFault).join("; ");
}
