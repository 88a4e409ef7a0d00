import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { box } from "../../test/fixtures/edit-list-fixture.ts";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { addedOf, h264, hasFfmpeg, openVideoFixture, type VideoFixture } from "../../test/fixtures/video-fixture.ts";

const clip = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");

/** What phones, forms, editors and disks leave behind the end of a file. */
const trailers: Record<string, Buffer> = {
  "a line end": Buffer.from("\n"),
  "a form's boundary": Buffer.from("\r\n------WebKitFormBoundary7MA4YWxkTrZu0gW--\r\n"),
  zeros: Buffer.alloc(1000),
  "a phone's trailer": Buffer.from(
    "\0\0\x01\x0a\x0e\0\0\0Image_UTC_Data1234567890123SEFHk\0\0\0\x01\0\0\0SEFT",
    "latin1",
  ),
  "a camera's trailer": Buffer.concat([Buffer.alloc(300, 0xa7), Buffer.from("8db42d694ccc418790edff439fe026bf")]),
  "a page": Buffer.from("<html><script>alert(1)</script></html>"),
};

describe.skipIf(!hasFfmpeg)("what stands behind the end of a video", () => {
  let fixture: VideoFixture;
  const files: Record<string, Buffer> = {};

  beforeAll(async () => {
    fixture = await openVideoFixture();
    const make = async (name: string, ...words: string[]) => readFile(await fixture.make(name, "-i", clip, ...words));
    files.mp4 = await readFile(clip);
    files.mov = await make("a.mov", "-c", "copy");
    files.webm = await make("a.webm", "-c:v", "libvpx", "-c:a", "libopus");
    files.live = await make("b.webm", "-c:v", "libvpx", "-c:a", "libopus", "-live", "1");
    files.fragments = await make("c.mp4", ...h264, "-c:a", "copy", "-movflags", "frag_keyframe+empty_moov");
  });
  afterAll(() => fixture.dispose());

  const add = async (bytes: Buffer, ffmpeg = "no-such-ffmpeg") => {
    await writeFile(fixture.pathOf("upload"), bytes);
    return fixture.add(fixture.pathOf("upload"), ffmpeg);
  };

  test.each(["mp4", "webm"])(
    "is cut off a file that phones play (%s): the same video is the same creative",
    async (kind) => {
      const whole = addedOf(await add(files[kind] ?? Buffer.alloc(0)));
      for (const trailer of Object.values(trailers)) {
        const followed = addedOf(await add(Buffer.concat([files[kind] ?? Buffer.alloc(0), trailer])));
        expect([followed.creativeId, followed.byteLength]).toEqual([whole.creativeId, whole.byteLength]);
      }
    },
  );

  test.each(["mov", "live", "fragments"])(
    "changes nothing of the faults that a conversion repairs (%s)",
    { tags: "long" },
    async (kind) => {
      const bytes = files[kind] ?? Buffer.alloc(0);
      const without = refusalOf(await add(bytes));
      expect(without).not.toMatch(/truncated/);
      for (const trailer of Object.values(trailers)) {
        expect(refusalOf(await add(Buffer.concat([bytes, trailer])))).toBe(without);
      }
      expect(
        addedOf(await add(Buffer.concat([bytes, trailers["a phone's trailer"] ?? bytes]), "ffmpeg")).mediaType,
      ).toMatch(/^video\//);
    },
  );

  test.each(["mp4", "mov", "webm"])(
    "is not missing from a file that is truncated, which is named (%s)",
    async (kind) => {
      const bytes = files[kind] ?? Buffer.alloc(0);
      for (const length of [bytes.length - 1, Math.floor(bytes.length * 0.99), Math.floor(bytes.length / 2)]) {
        expect(refusalOf(await add(bytes.subarray(0, length)))).toBe("the file is truncated");
      }
    },
  );

  test("a file whose last box extends to the end of the file is truncated where frames are missing", async () => {
    const bytes = Buffer.from(files.mp4 ?? []);
    bytes.writeUInt32BE(0, bytes.indexOf("mdat", 0, "latin1") - 4);
    expect((await add(bytes)).outcome).toBe("added");
    expect(refusalOf(await add(bytes.subarray(0, bytes.length - 500)))).toBe("the file is truncated");
  });

  test("bytes between the elements of a WebM do not keep its reader busy for ever", async () => {
    const bytes = files.live ?? Buffer.alloc(0);
    for (const length of [8, 16, 45, 4096]) {
      expect((await add(Buffer.concat([bytes, Buffer.alloc(length, 0x2d)]))).outcome).toBe("refused");
    }
  });

  test.each([
    ["a GIF picture", Buffer.from("GIF89a\x10\0\x10\0\0\0\0;", "latin1")],
    ["a HEIC picture", Buffer.concat([box("ftyp", Buffer.from("heic\0\0\0\0mif1heic")), box("mdat", Buffer.alloc(8))])],
    [
      "an AVIF picture",
      Buffer.concat([box("ftyp", Buffer.from("avif\0\0\0\0mif1avif")), box("mdat", Buffer.alloc(8))]),
    ],
  ])("%s is named, not taken for a video", async (kind, bytes) => {
    expect(refusalOf(await add(bytes))).toMatch(`the file is ${kind}, not a JPEG, PNG or WebP picture`);
  });
});
