import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import { type Picture, readPicture } from "./read-picture.ts";

const MAX_PICTURE_BYTES = 1024 * 1024;
const MIN_SIDE = 16;
const MAX_SIDE = 4096;
/** A viewer's device needs 4 bytes of memory for each pixel. */
const MAX_PIXELS = 4096 * 2304;

/** `repairable`: it is a picture that another encoding would make showable. */
export type InspectedPicture =
  | { outcome: "showable"; picture: Picture }
  | { outcome: "repairable"; picture: Picture; faults: readonly FileFault[] }
  | { outcome: "refused"; faults: readonly FileFault[] };

/** Whether a file is a still picture that every webview shows alike, by its bytes and not its name. */
export function inspectPicture(bytes: Buffer, { minSide = MIN_SIDE } = {}): InspectedPicture {
  const picture = readPicture(bytes);
  if ("code" in picture) return { outcome: "refused", faults: [picture] };
  const { width, height, byteLength, isAnimated, orientation } = picture;
  const size = { width: String(width), height: String(height) };
  const tooSmall = Math.min(width, height) < minSide;
  const facts: [fault: FileFault, isTrue: boolean][] = [
    [
      fileFault("PICTURE_SIDES", { ...size, min: String(minSide), max: String(MAX_SIDE) }),
      tooSmall || Math.max(width, height) > MAX_SIDE,
    ],
    [tooManyPixels(picture, MAX_PIXELS), width * height > MAX_PIXELS],
    [fileFault("FILE_TOO_LARGE", { max: `${MAX_PICTURE_BYTES / 1024 / 1024} MiB` }), byteLength > MAX_PICTURE_BYTES],
    [fileFault("PICTURE_TURNED"), orientation !== 1],
    [animatedPicture(picture), isAnimated],
  ];
  const faults = facts.filter(([, isTrue]) => isTrue).map(([fault]) => fault);
  if (faults.length === 0) return { outcome: "showable", picture };
  return tooSmall ? { outcome: "refused", faults } : { outcome: "repairable", picture, faults };
}

export function tooManyPixels({ width, height }: Pick<Picture, "width" | "height">, max: number): FileFault {
  return fileFault("PICTURE_PIXELS", { width: String(width), height: String(height), max: String(max) });
}

export function animatedPicture({ extension }: Pick<Picture, "extension">): FileFault {
  return fileFault("PICTURE_ANIMATED", { kind: extension === "png" ? "an animated PNG" : "an animated WebP" });
}
