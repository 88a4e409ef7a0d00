import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { migrations } from "../migrations.ts";
import { addCreative } from "./add-creative.ts";
import { setPoster } from "./captions-and-posters.ts";
import { addVastTag } from "./creatives.ts";
import { openFfmpeg } from "./ffmpeg.ts";
import { inspectPicture } from "./inspect-picture.ts";
import { type FolderStorage, folderStorage } from "./media-storage.ts";
import { mediaRoutes } from "./routes.ts";

const run = promisify(execFile);
const hasFfmpeg = await run("ffmpeg", ["-version"]).then(
  () => true,
  () => false,
);
const clip = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");
const now = new Date("2026-03-01T12:00:00Z");

/** A grey PNG of that size, according to its header and its end. */
function png(width: number, height: number, pixels = 0): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  const start = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(pixels);
  const data = [length, Buffer.from("IDAT"), Buffer.alloc(pixels), Buffer.from("....")];
  const end = Buffer.from("\0\0\0\0IEND....", "latin1");
  return Buffer.concat([start, size, Buffer.from("\x08\0\0\0\0....", "latin1"), ...data, end]);
}

/** What phones, forms and editors leave behind the end of a file. */
const trailers = [
  "\n",
  "\r\n------WebKitFormBoundary7MA4YWxk--\r\n",
  "\0".repeat(100),
  "SEFHk\0\0\0SEFT",
  "\xff\xd8\xff\xe1",
].map((text) => Buffer.from(text, "latin1"));

describe("posters", () => {
  let store: TestDatabase;
  let folder: string;
  let media: FolderStorage;
  let creativeId: string;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    folder = await mkdtemp(join(tmpdir(), "intermission-posters-"));
    media = folderStorage(join(folder, "media"));
    const upload = { bytes: createReadStream(clip), name: "clip.mp4", now };
    const added = await addCreative({ database: store.database, media, ffmpeg: openFfmpeg("no-such-ffmpeg") }, upload);
    if (added.outcome !== "added") throw new Error(refusalOf(added));
    creativeId = added.creative.creativeId;
  });
  afterAll(async () => {
    await store.dispose();
    await rm(folder, { recursive: true });
  });

  const set = (bytes: Uint8Array, id = creativeId) => {
    const file = (async function* () {
      yield bytes;
    })();
    return setPoster(
      { database: store.database, media, ffmpeg: openFfmpeg("no-such-ffmpeg") },
      { creativeId: id, bytes: file, name: "my poster.jpg", isSubmission: false },
    );
  };

  test("are stored under the hash of their bytes, replace the previous one, and are served as pictures", async () => {
    const first = await set(png(540, 960));
    const second = await set(png(720, 1280));
    if (first.outcome !== "changed" || second.outcome !== "changed") throw new Error("not changed");
    const { posterFileName } = second.creative;
    expect(posterFileName).not.toBe(first.creative.posterFileName);
    expect(await readdir(media.folder)).toContain(posterFileName);
    const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    mediaRoutes(app, { media });
    const response = await app.inject({ url: `/media/${posterFileName}` });
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "image/png"]);
    expect(response.rawPayload).toEqual(png(720, 1280));
    await app.close();
  });

  test.each<[string, Buffer, RegExp]>([
    ["a page", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"), /not a JPEG, PNG or WebP/],
    ["nothing", Buffer.alloc(0), /is empty/],
    ["a truncated picture", png(540, 960).subarray(0, 30), /is truncated/],
    ["too small a picture", png(8, 960), /8×960/],
    ["too large a picture", png(540, 5000), /540×5000/],
    ["too many pixels", png(4000, 3000), /4000×3000/],
    [
      "a picture that moves",
      Buffer.from(png(540, 960).toString("latin1").replace("IDAT", "acTL"), "latin1"),
      /an animated PNG.*convert it with: ffmpeg -noautorotate -i 'my poster.jpg' -frames:v 1 /,
    ],
    ["too many bytes", png(540, 960, 1 << 20), /larger than 1 MiB; convert it with: ffmpeg/],
    ["a GIF", Buffer.from("GIF89a\x10\0\x10\0\0\0\0;", "latin1"), /a GIF picture/],
    ["a phone's HEIC", Buffer.from("\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "latin1"), /a HEIC picture/],
    ["a video", Buffer.from("\0\0\0\x18ftypisom\0\0\0\0mp41isom", "latin1"), /an MP4/],
  ])("%s is refused with the reason, and nothing is left behind", async (_name, bytes, message) => {
    const before = await readdir(media.folder);
    expect(refusalOf(await set(bytes))).toMatch(message);
    expect(await readdir(media.folder)).toEqual(before);
  });

  test("a missing creative and a VAST tag can have none", async () => {
    expect(await set(png(540, 960), "cre_none")).toEqual({ outcome: "unknown-creative" });
    const url = "https://tags.example.net/vast";
    const tag = await addVastTag(store.database, { url, now });
    expect(await set(png(540, 960), tag.creativeId)).toMatchObject({ outcome: "refused" });
  });

  test.skipIf(!hasFfmpeg).each([
    ["poster.jpg", []],
    ["poster.png", []],
    ["lossy.webp", ["-c:v", "libwebp"]],
    ["lossless.webp", ["-c:v", "libwebp", "-lossless", "1"]],
  ])("%s written by ffmpeg is read with its size, and its first half is rejected", async (name, words) => {
    const path = join(folder, name);
    await run("ffmpeg", ["-v", "error", "-y", "-i", clip, "-frames:v", "1", ...words, path]);
    const bytes = await readFile(path);
    const extension = name.split(".")[1];
    expect(inspectPicture(bytes)).toMatchObject({
      outcome: "showable",
      picture: { extension, width: 180, height: 320 },
    });
    expect(inspectPicture(bytes.subarray(0, bytes.length / 2))).toMatchObject({ faults: [{ code: "FILE_TRUNCATED" }] });
    for (const trailer of trailers) {
      const { byteLength } = bytes;
      const followed = inspectPicture(Buffer.concat([bytes, trailer]));
      expect(followed).toMatchObject({ outcome: "showable", picture: { byteLength, width: 180, height: 320 } });
    }
  });

  test("reading arbitrary bytes throws nothing", () => {
    const starts = ["\xff\xd8\xff", "\x89PNG\r\n\x1a\n", "RIFF\0\0\0\0WEBPVP8X", "RIFF\0\0\0\0WEBPVP8 ", ""];
    fc.assert(
      fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }), (start, rest) => {
        inspectPicture(Buffer.concat([Buffer.from(start, "latin1"), rest, Buffer.from("\xff\xd9", "latin1")]));
      }),
    );
  });
});
