import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { hasFfmpeg, meanColour, openVideoFixture, type VideoFixture } from "../../test/fixtures/video-fixture.ts";
import { openFfmpeg } from "./ffmpeg.ts";
import { fitPicture, type PictureUse } from "./fit-picture.ts";
import { inspectPicture } from "./inspect-picture.ts";
import { strippedPicture } from "./strip-picture.ts";

/** An EXIF block with an orientation alone. */
function exif(orientation: number): Buffer {
  const block = Buffer.from("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", "latin1");
  block.writeUInt16BE(orientation, 24);
  return block;
}

function withExif(jpeg: Buffer, orientation: number): Buffer {
  const block = exif(orientation);
  const head = Buffer.from([0xff, 0xe1, 0, block.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, block, jpeg.subarray(2)]);
}

/** How ffmpeg stores an upright picture so that the orientation shows it upright again. */
const storedAs: Record<number, string> = {
  2: "hflip",
  3: "hflip,vflip",
  4: "vflip",
  5: "transpose=0",
  6: "transpose=2",
  7: "transpose=3",
  8: "transpose=1",
};

describe.skipIf(!hasFfmpeg)("an uploaded poster", () => {
  let fixture: VideoFixture;
  beforeAll(async () => {
    fixture = await openVideoFixture();
  });
  afterAll(() => fixture.dispose());

  const fit = (bytes: Buffer, ffmpeg = "ffmpeg", use: PictureUse = "poster") =>
    fitPicture({ media: fixture.media, ffmpeg: openFfmpeg(ffmpeg) }, { bytes, name: "IMG 1.jpg", use });
  const fitted = async (bytes: Buffer) => {
    const found = await fit(bytes);
    if (found.outcome !== "fits") throw new Error(refusalOf(found));
    return found.bytes;
  };
  // The upper left quarter is red, the rest is blue.
  const corner = ["-f", "lavfi", "-i", "color=blue:s=64x96", "-vf"];
  const red = "drawbox=x=0:y=0:w=32:h=48:color=red:t=fill";
  const picture = async (name: string, filters: string, ...words: string[]) =>
    readFile(await fixture.make(name, ...corner, filters, "-frames:v", "1", ...words));

  const turned = Object.keys(storedAs).map(Number);
  test.for(turned)("of EXIF orientation %i is turned upright", { tags: "long" }, (orientation) =>
    expectUpright(orientation),
  );
  test("that a phone stored on its side is turned upright", () => expectUpright(6));

  async function expectUpright(orientation: number): Promise<void> {
    const stored = withExif(await picture("turned.jpg", `${red},${storedAs[orientation]}`, "-q:v", "1"), orientation);
    const bytes = await fitted(Buffer.concat([stored, Buffer.from("\r\n--form--\r\n")]));
    expect(inspectPicture(bytes)).toMatchObject({ outcome: "showable", picture: { width: 64, height: 96 } });
    await writeFile(fixture.pathOf("shown.webp"), bytes);
    const quarter = await fixture.make("quarter.png", "-i", fixture.pathOf("shown.webp"), "-vf", "crop=24:40:4:4");
    const [r, , b] = await meanColour(quarter);
    expect([r > 200, b < 60]).toEqual([true, true]);
  }

  test("of a phone's size is made smaller; without ffmpeg the refusal has the command", async () => {
    const photo = await picture("photo.jpg", "scale=3024:4032,noise=alls=60", "-q:v", "2");
    expect(photo.byteLength).toBeGreaterThan(1024 * 1024);
    const bytes = await fitted(withExif(photo, 1));
    expect(inspectPicture(bytes)).toMatchObject({ outcome: "showable", picture: { width: 1440, height: 1920 } });
    expect(refusalOf(await fit(photo, "no-such-ffmpeg"))).toMatch(
      /3024×4032.*larger than 1 MiB; convert it with: ffmpeg -noautorotate -i 'IMG 1.jpg' .* 'IMG 1-fitted.webp'$/,
    );
  });

  test("that moves is named, and reduced to its first picture where ffmpeg reads it", async () => {
    const words = ["-f", "lavfi", "-i", "testsrc=s=64x96:d=1:r=4"];
    const png = await readFile(await fixture.make("moving.png", ...words, "-f", "apng"));
    expect(inspectPicture(png)).toMatchObject({ faults: [{ values: { kind: "an animated PNG" } }] });
    expect(inspectPicture(await fitted(png))).toMatchObject({ outcome: "showable" });
    const webp = await readFile(await fixture.make("moving.webp", ...words, "-c:v", "libwebp_anim"));
    expect(refusalOf(await fit(webp, "no-such-ffmpeg"))).toMatch(
      /the picture is an animated WebP.*webpmux -get frame 1 'IMG 1.jpg'/,
    );
  });

  test("that is upright and small keeps its pixels as they are, without what stands behind its end", async () => {
    for (const extension of ["jpg", "png", "webp"] as const) {
      const bytes = await picture(`plain.${extension}`, red);
      const stored = strippedPicture(bytes, extension);
      expect(await fitted(Buffer.concat([bytes, Buffer.from("\n<script>")]))).toEqual(stored);
    }
  });

  /** Which parts of a fitted picture are opaque red: its middle, and its upper edge. */
  async function colours(bytes: Buffer, use: string) {
    await writeFile(fixture.pathOf(`${use}.webp`), bytes);
    const part = async (name: string, crop: string) => {
      const words = ["-i", fixture.pathOf(`${use}.webp`), "-vf", `format=rgba,crop=${crop}`, "-f", "rawvideo"];
      return [...(await readFile(await fixture.make(`${use}-${name}.raw`, ...words))).subarray(0, 4)];
    };
    return { middle: await part("middle", "2:2:iw/2:ih/2"), edge: await part("edge", "2:2:iw/2:0") };
  }

  test.each(["bot", "unit"] as const)(
    "for %s becomes a small square without its origin",
    { tags: "long" },
    async (use) => {
      // A wide banner, red throughout, with an orientation and a comment as cameras write them.
      const words = ["-f", "lavfi", "-i", "color=red:s=400x100", "-frames:v", "1", "-metadata", "comment=made at home"];
      const jpeg = await readFile(await fixture.make(`${use}.jpg`, ...words));
      const square = await fit(withExif(jpeg, 6), "ffmpeg", use);
      if (square.outcome !== "fits") throw new Error(refusalOf(square));
      const side = use === "bot" ? 192 : 96;
      expect(inspectPicture(square.bytes)).toMatchObject({
        picture: { width: side, height: side, extension: "webp", orientation: 1 },
      });
      expect(square.bytes.byteLength).toBeLessThan(4096);
      expect(square.bytes.toString("latin1")).not.toMatch(/made at home|Exif/);
      const { middle, edge } = await colours(square.bytes, use);
      expect(middle[0]).toBeGreaterThan(200);
      expect(edge[0]).toBeGreaterThan(use === "bot" ? 200 : -1);
      const second = await readFile(await fixture.make(`${use}-wide.png`, ...words));
      const wide = await fit(second, "ffmpeg", use);
      if (wide.outcome !== "fits") throw new Error(refusalOf(wide));
      // The picture of a bot is filled; around the icon of a unit, nothing is drawn.
      expect((await colours(wide.bytes, use)).edge[3]).toBe(use === "bot" ? 255 : 0);
    },
  );

  test.each<[string, () => Promise<Buffer> | Buffer, RegExp]>([
    ["nothing", () => Buffer.alloc(0), /^the file is empty$/],
    [
      "an SVG",
      () => Buffer.from('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'),
      /an SVG picture, not a JPEG/,
    ],
    ["a page", () => Buffer.from("\ufeff<!DOCTYPE html><html><body onload=alert(1)>"), /a web page, not a JPEG/],
    ["a GIF", () => Buffer.from("GIF89a\x10\0\x10\0\0\0\0;", "latin1"), /a GIF picture, not a JPEG/],
    [
      "an animation",
      async () => readFile(await fixture.make("m.png", "-f", "lavfi", "-i", "testsrc=s=64x64:d=1:r=4", "-f", "apng")),
      /^the picture is an animated PNG; it must stand still$/,
    ],
    ["40 megapixels", () => picture("big.png", "scale=8000:5000"), /8000×5000: that is more than 25000000 pixels$/],
    ["too small a picture", () => picture("small.png", "scale=20:20"), /20×20: each side must have (32|64) to 4096/],
    [
      "broken pixels",
      async () => {
        const png = await picture("broken.png", "scale=128:128,noise=alls=60");
        return png.fill(0x55, png.indexOf("IDAT") + 4, png.indexOf("IDAT") + 64);
      },
      /could be read$/,
    ],
  ])("%s is no picture of a bot or a unit: the refusal names the limit", async (_, make, message) => {
    const bytes = await make();
    for (const use of ["bot", "unit"] as const) expect(refusalOf(await fit(bytes, "ffmpeg", use))).toMatch(message);
  });

  test("without ffmpeg, a small square is stored as it is; else the refusal has the side and the command", async () => {
    const square = await picture("square.png", "scale=96:96");
    expect(await fit(square, "no-such-ffmpeg", "unit")).toMatchObject({ outcome: "fits", extension: "png" });
    const wide = await picture("wide.png", "scale=96:64");
    expect(refusalOf(await fit(wide, "no-such-ffmpeg", "unit"))).toMatch(
      /a square of at most 96×96 pixels and 1 MiB; convert it with: ffmpeg .* 'IMG 1-fitted.webp'$/,
    );
  });
});
