import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import {
  addedOf,
  hasFfmpeg,
  meanColour,
  openVideoFixture,
  type VideoFixture,
} from "../../test/fixtures/video-fixture.ts";

/** A JPEG with an EXIF block that says: turn it by 90°. */
function onItsSide(jpeg: Buffer): Buffer {
  const block = Buffer.from("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", "latin1");
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xe1, 0, block.length + 2]), block, jpeg.subarray(2)]);
}

describe.skipIf(!hasFfmpeg)("a picture that is added as an ad", () => {
  let fixture: VideoFixture;
  beforeAll(async () => {
    fixture = await openVideoFixture();
  });
  afterAll(() => fixture.dispose());

  const picture = (name: string, size: string, ...words: string[]) =>
    fixture.make(name, "-f", "lavfi", "-i", `color=red:s=${size}`, "-frames:v", "1", ...words);

  test("is shown for ten seconds as a video of itself, with a poster", () => expectShown("jpg"));
  test.for(["png", "webp"])("of the format %s is shown, too", { tags: "long" }, (ending) => expectShown(ending));

  async function expectShown(ending: string): Promise<void> {
    const added = await fixture.add(await picture(`plain.${ending}`, "401x601"));
    expect(added).toMatchObject({ converted: "it is a picture, shown for 10 s" });
    const creative = addedOf(added);
    const size = { width: 400, height: 600 };
    expect(creative).toMatchObject({ kind: "file", mediaType: "video/mp4", durationMs: 10_000, ...size });
    for (const second of [0, 5, 9.8]) {
      const [r, g, b] = await fixture.colourAt(creative.fileName, second);
      expect([r > 200, g < 40, b < 40]).toEqual([true, true, true]);
    }
    expect(creative.posterFileName).not.toBeNull();
  }

  test("is one creative for each picture and time", { tags: "long" }, async () => {
    const path = await picture("timed.png", "300x300");
    const ids = [];
    for (const pictureSeconds of [5, 5, 30]) {
      const creative = addedOf(await fixture.add(path, "ffmpeg", { pictureSeconds }));
      expect(creative.durationMs).toBe(pictureSeconds * 1000);
      ids.push(creative.creativeId);
    }
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  test("is white where it is transparent", async () => {
    const path = await picture("transparent.png", "300x300", "-vf", "format=rgba,colorchannelmixer=aa=0");
    const colour = await fixture.colourAt(addedOf(await fixture.add(path)).fileName, 1);
    expect(Math.min(...colour)).toBeGreaterThan(240);
  });

  test("is turned as its camera says, and made smaller", { tags: "long" }, async () => {
    const path = fixture.pathOf("turned.jpg");
    await writeFile(path, onItsSide(await readFile(await picture("photo.jpg", "4032x3024"))));
    expect(addedOf(await fixture.add(path))).toMatchObject({ width: 1440, height: 1920 });
  });

  test("is refused where it moves, is an icon, or is cut off", async () => {
    const moving = await fixture.make("moving.png", "-f", "lavfi", "-i", "testsrc=s=300x300:d=1:r=4", "-f", "apng");
    expect(refusalOf(await fixture.add(moving))).toMatch(/an animated PNG; it must stand still/);
    const icon = await picture("icon.png", "192x192");
    expect(refusalOf(await fixture.add(icon))).toMatch(/192×192: each side must have 200 to/);
    const whole = await readFile(await picture("whole.jpg", "600x600"));
    await writeFile(fixture.pathOf("cut.jpg"), whole.subarray(0, whole.length - 200));
    expect(refusalOf(await fixture.add(fixture.pathOf("cut.jpg")))).toMatch(/truncated/);
  });

  test("is refused where the server has no ffmpeg, with a command that makes the video", async () => {
    const path = await picture("shop.png", "400x600", "-vf", "format=rgba");
    const refusal = refusalOf(await fixture.add(path, "no-such-ffmpeg", { pictureSeconds: 7 }));
    const [, command = ""] = /^the server has no ffmpeg, .*; convert it with: (ffmpeg .*)$/.exec(refusal) ?? [];
    // Its owner runs it where the picture is.
    const words = command.replaceAll(
      / (shop)\.(png|mp4)/g,
      (_all, _name, ending) => ` ${fixture.pathOf(`shop.${ending}`)}`,
    );
    const { exec } = await import("node:child_process");
    await new Promise<void>((resolve, reject) => exec(words, (error) => (error ? reject(error) : resolve())));
    const creative = addedOf(await fixture.add(fixture.pathOf("shop.mp4"), "no-such-ffmpeg"));
    expect(creative.durationMs).toBe(7000);
    const [r] = await meanColour(fixture.pathOf("shop.mp4"), 6);
    expect(r).toBeGreaterThan(200);
  });
});
