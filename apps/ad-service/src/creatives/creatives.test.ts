import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Creative } from "@intermission/operator-api/creatives";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { migrations } from "../migrations.ts";
import { type AddCreativeOutcome, addCreative } from "./add-creative.ts";
import { openFfmpeg } from "./ffmpeg.ts";
import { inspectPicture } from "./inspect-picture.ts";
import { inspectVideo } from "./inspect-video.ts";
import { type FolderStorage, folderStorage, hashOfFile } from "./media-storage.ts";
import { mediaRoutes } from "./routes.ts";

const clip = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");
const now = new Date("2026-03-01T12:00:00Z");
const run = promisify(execFile);
const hasFfmpeg = await run("ffmpeg", ["-version"]).then(
  () => true,
  () => false,
);

describe("videos", () => {
  let store: TestDatabase;
  let folder: string;
  let mediaDir: string;
  let media: FolderStorage;

  beforeAll(async () => {
    const options = { schema: "ad_service", migrations } as const;
    store = await openTestDatabase(options);
    folder = await mkdtemp(join(tmpdir(), "intermission-media-"));
    mediaDir = join(folder, "media");
    await mkdir(mediaDir);
    media = folderStorage(mediaDir);
  });
  afterAll(async () => {
    await store.dispose();
    await rm(folder, { recursive: true });
  });

  /** Adds a video as on a machine with ffmpeg, or without it. */
  const add = (path: string, name = path, ffmpeg = "no-such-ffmpeg"): Promise<AddCreativeOutcome> =>
    addCreative(
      { database: store.database, media, ffmpeg: openFfmpeg(ffmpeg) },
      { bytes: createReadStream(path), name, now },
    );

  async function made(name: string, ...words: string[]): Promise<string> {
    const path = join(folder, name);
    await run("ffmpeg", ["-v", "error", "-y", "-i", clip, ...words, path]);
    return path;
  }

  test("a video that every phone plays is stored once, under the hash of its bytes", async () => {
    const added = await add(clip);
    expect(added).toMatchObject({
      outcome: "added",
      creative: { mediaType: "video/mp4", durationMs: 2000, width: 180, height: 320 },
    });
    const files = await readdir(mediaDir);
    const rows = () => store.database.run({ name: "", text: "select sha256 from creatives" }, []);
    const before = await rows();
    expect(await add(clip)).toEqual(added);
    if (added.outcome !== "added") throw new Error("not added");
    expect(await readdir(mediaDir)).toEqual(files);
    expect(files).toContain(added.creative.fileName);
    expect(await readFile(join(mediaDir, String(added.creative.fileName)))).toEqual(await readFile(clip));
    expect(await rows()).toHaveLength(before.length);
  });

  test("a video whose file is lost is there again when it is uploaded again", async () => {
    const added = await add(clip);
    if (added.outcome !== "added") throw new Error("not added");
    const path = join(mediaDir, String(added.creative.fileName));
    await rm(path);
    expect(await add(clip)).toEqual(added);
    expect(await readFile(path)).toEqual(await readFile(clip));
  });

  test("junk, a truncated file and an empty file are refused, and nothing is left behind", async () => {
    const before = await readdir(mediaDir);
    const whole = await readFile(clip);
    const pieces = [Buffer.from("junk"), Buffer.alloc(0), whole.subarray(0, 9000), Buffer.alloc(100_000, 7)];
    for (const bytes of pieces) {
      const chunks = (async function* () {
        yield bytes;
      })();
      const added = await addCreative(
        { database: store.database, media, ffmpeg: openFfmpeg() },
        { bytes: chunks, name: "x.mp4", now },
      );
      expect(added).toMatchObject({ outcome: "refused" });
    }
    expect(await readdir(mediaDir)).toEqual(before);
  });

  test("an upload that is too large is refused while it arrives", async () => {
    let sent = 0;
    const endless = async function* () {
      for (;;) {
        sent += 1 << 20;
        yield Buffer.alloc(1 << 20);
      }
    };
    const added = await addCreative(
      { database: store.database, media, ffmpeg: openFfmpeg() },
      { bytes: endless(), name: "big.mp4", now },
    );
    expect(refusalOf(added)).toContain("100 MiB");
    expect(sent).toBeLessThan(110 << 20);
  });

  describe.skipIf(!hasFfmpeg)("what ffmpeg makes", () => {
    const unplayable = [
      { name: "index-last.mp4", words: ["-c", "copy"], fault: /moov/ },
      { name: "it's mpeg-4.mp4", words: ["-c:v", "mpeg4", "-c:a", "copy", "-movflags", "+faststart"], fault: /H\.264/ },
      { name: "444.mp4", words: ["-pix_fmt", "yuv444p", "-c:a", "copy", "-movflags", "+faststart"], fault: /profile/ },
      { name: "mp3.mp4", words: ["-c:v", "copy", "-c:a", "libmp3lame", "-movflags", "+faststart"], fault: /AAC/ },
      { name: "quicktime.mov", words: ["-c", "copy", "-movflags", "+faststart"], fault: /QuickTime/ },
    ];
    for (const { name, words, fault } of unplayable) {
      const tags = name.includes("'") ? [] : ["long"];
      test(`${name} is refused with a command that does convert it`, { tags }, async () => {
        const refused = await add(await made(name, ...words), name);
        expect(refusalOf(refused)).toMatch(fault);
        const conversion = refused.outcome === "refused" ? (refused.conversion ?? "") : "";
        await run("sh", ["-c", conversion], { cwd: folder });
        expect(await add(join(folder, name.replace(/\.[^.]+$/, "-converted.mp4")))).toMatchObject({ outcome: "added" });
      });
    }

    test.each(unplayable)(
      "$name is converted if ffmpeg is installed, and gets a poster",
      { tags: "long" },
      async ({ name, words, fault }) => {
        // The bytes differ from those above: the file that was converted by hand is stored already.
        const converted = await add(await made(name, ...words, "-t", "1.5"), name, "ffmpeg");
        expect(converted).toMatchObject({ outcome: "added", converted: expect.stringMatching(fault) });
        const { fileName, posterFileName } = converted.outcome === "added" ? converted.creative : {};
        expect(await readdir(mediaDir)).toEqual(expect.arrayContaining([fileName, posterFileName]));
        const poster = await readFile(join(mediaDir, String(posterFileName)));
        expect(inspectPicture(poster)).toMatchObject({ picture: { extension: "webp" } });
      },
    );

    test("an ffmpeg that was built without WebP makes a JPEG poster", { tags: "long" }, async () => {
      const ffmpeg = join(folder, "ffmpeg-without-webp");
      await writeFile(ffmpeg, '#!/bin/sh\ncase "$*" in *libwebp*) exit 8 ;; esac\nexec ffmpeg "$@"\n', { mode: 0o755 });
      const added = await add(await made("jpeg.mp4", "-t", "1.3", "-movflags", "+faststart"), "jpeg.mp4", ffmpeg);
      const { posterFileName } = added.outcome === "added" ? added.creative : {};
      expect(posterFileName).toMatch(/\.jpg$/);
      expect(inspectPicture(await readFile(join(mediaDir, String(posterFileName))))).toMatchObject({
        picture: { extension: "jpg" },
      });
    });

    test("a file that looks like a list of addresses makes ffmpeg open none of them", async () => {
      const requested: string[] = [];
      const elsewhere = createServer((request, response) => {
        requested.push(request.url ?? "");
        response.end();
      });
      await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
      const { port } = elsewhere.address() as AddressInfo;
      const list = join(folder, "list.mp4");
      await writeFile(
        list,
        `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:${port}/x.ts\n#EXT-X-ENDLIST\n`,
      );
      expect(await add(list, "list.mp4", "ffmpeg")).toMatchObject({ outcome: "refused" });
      expect(requested).toEqual([]);
      elsewhere.close();
    });

    test("a WebM, and an MP4 without sound, are accepted", async () => {
      const webm = await made("clip.webm", "-c:v", "libvpx", "-b:v", "100k", "-c:a", "libopus");
      expect(await add(webm)).toMatchObject({ outcome: "added", creative: { mediaType: "video/webm" } });
      expect(await add(await made("silent.mp4", "-an", "-c", "copy", "-movflags", "+faststart"))).toMatchObject({
        outcome: "added",
      });
    });

    describe("lighter files", () => {
      /** Noise with a tone, which no encoder compresses well. */
      async function heavy(name: string, size: string): Promise<string> {
        const path = join(folder, name);
        const picture = ["-f", "lavfi", "-i", `testsrc2=s=${size}:r=25:d=3,noise=alls=40:allf=t`];
        const sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=3"];
        const codecs = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-b:v", "4M", "-c:a", "aac"];
        await run("ffmpeg", ["-v", "error", "-y", ...picture, ...sound, ...codecs, "-movflags", "+faststart", path]);
        return path;
      }
      const creativeOf = (added: AddCreativeOutcome) => {
        if (added.outcome !== "added") throw new Error(refusalOf(added));
        return added.creative;
      };

      const heavyVideos = [
        { size: "1280x720", sizes: ["854×480", "640×360"], tags: ["long"] },
        { size: "720x1280", sizes: ["480×854", "360×640"], tags: ["long"] },
      ];
      for (const { tags, ...row } of heavyVideos) {
        const title = `of ${row.size} are the same video: each is lighter than the one before, under the hash of its bytes`;
        test(title, { tags }, async () => {
          const path = await heavy(`heavy-${row.size}.mp4`, row.size);
          const added = await add(path, "heavy.mp4", "ffmpeg");
          expect(added).not.toHaveProperty("renditionFault");
          const { renditions, durationMs, byteLength } = creativeOf(added);
          expect(renditions.map(({ width, height }) => `${width}×${height}`)).toEqual(row.sizes);
          let most = Number(byteLength);
          for (const { fileName, byteLength: size } of renditions) {
            const file = join(mediaDir, fileName);
            expect(fileName).toBe(`${await hashOfFile(file)}.mp4`);
            const found = await inspectVideo(file);
            if (found.outcome === "unplayable") throw new Error(refusalOf(found));
            expect(Math.abs(found.durationMs - Number(durationMs))).toBeLessThanOrEqual(250);
            expect([size, size < most * 0.81]).toEqual([(await stat(file)).size, true]);
            most = size;
          }
          expect(await add(path, "heavy.mp4", "ffmpeg")).toEqual(added);
          const filesOf = (creative: Creative) => [
            creative.posterFileName,
            ...creative.renditions.map((one) => one.fileName),
          ];
          for (const name of filesOf(creativeOf(added))) await rm(join(mediaDir, String(name)));
          const again = creativeOf(await add(path, "heavy.mp4", "ffmpeg"));
          // ffmpeg makes other bytes each time.
          expect(again.renditions).toHaveLength(renditions.length);
          expect(again.posterFileName).toBe(creativeOf(added).posterFileName);
          expect(await readdir(mediaDir)).toEqual(expect.arrayContaining(filesOf(again)));
        });
      }

      test("that fail or take too long do not refuse the video, and are made when it is added again", {
        tags: "long",
      }, async () => {
        const path = await heavy("later.mp4", "640x360");
        const without = await add(path);
        expect(without).toMatchObject({
          creative: { renditions: [] },
          renditionFault: expect.stringMatching(/^ffmpeg is not on the server/),
        });
        const upload = { bytes: createReadStream(path), name: "later.mp4", now };
        const hurried = await addCreative(
          { database: store.database, media, ffmpeg: openFfmpeg(), maxMakingMs: 1 },
          upload,
        );
        expect(hurried).toMatchObject({
          creative: { renditions: [] },
          renditionFault: expect.stringMatching(/0.001 s$/),
        });
        const again = creativeOf(await add(path, "later.mp4", "ffmpeg"));
        expect(again.creativeId).toBe(creativeOf(without).creativeId);
        expect(again.renditions).not.toEqual([]);
      });

      test("are not made of a video that is as light already", async () => {
        const added = await add(await made("light.mp4", "-t", "1.2", "-movflags", "+faststart"), "light.mp4", "ffmpeg");
        expect(creativeOf(added).renditions).toEqual([]);
        expect(added).not.toHaveProperty("renditionFault");
      });
    });

    test("a file with sound only and a very short video are refused", async () => {
      expect(await add(await made("sound.mp4", "-vn", "-c", "copy"))).toMatchObject({ outcome: "refused" });
      expect(await add(await made("blink.mp4", "-t", "0.5", "-movflags", "+faststart"))).toMatchObject({
        outcome: "refused",
      });
    });
  });

  describe("serving", () => {
    let address: string;
    let app: FastifyInstance;
    let file: string;
    let size: number;

    beforeAll(async () => {
      const added = await add(clip);
      if (added.outcome !== "added") throw new Error("not added");
      file = `/media/${added.creative.fileName}`;
      size = (await stat(clip)).size;
      app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
      mediaRoutes(app, { media });
      address = await app.listen({ host: "127.0.0.1", port: 0 });
    });
    afterAll(() => app.close());

    const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
      fetch(address + path, { method, headers });

    test("the whole file is served, cached forever, and runs no script when opened as a page", async () => {
      const response = await get(file);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(await readFile(clip));
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "video/mp4",
        "content-length": String(size),
        "accept-ranges": "bytes",
        "cache-control": "public, max-age=31536000, immutable",
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
      });
    });

    test.each([
      { range: "bytes=0-99", status: 206, contentRange: (all: number) => `bytes 0-99/${all}` },
      { range: "bytes=100-", status: 206, contentRange: (all: number) => `bytes 100-${all - 1}/${all}` },
      { range: "bytes=-50", status: 206, contentRange: (all: number) => `bytes ${all - 50}-${all - 1}/${all}` },
      { range: "bytes=99999999-", status: 416, contentRange: (all: number) => `bytes */${all}` },
    ])("$range is answered $status", async ({ range, status, contentRange }) => {
      const response = await get(file, { range });
      expect(response.status).toBe(status);
      expect(response.headers.get("content-range")).toBe(contentRange(size));
      await response.arrayBuffer();
    });

    test("a range request for a changed file returns the whole file, for an unchanged one the range", async () => {
      const etag = (await get(file, {}, "HEAD")).headers.get("etag") ?? "";
      const part = await get(file, { range: "bytes=0-9", "if-range": etag });
      expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10]);
      const whole = await get(file, { range: "bytes=0-9", "if-range": '"another"' });
      expect([whole.status, (await whole.arrayBuffer()).byteLength]).toEqual([200, size]);
      // This request avoids fetch, which adds a `cache-control: no-cache` of its own.
      expect((await app.inject({ url: file, headers: { "if-none-match": etag } })).statusCode).toBe(304);
    });

    test("HEAD returns the size without the bytes", async () => {
      const response = await get(file, {}, "HEAD");
      expect([response.status, response.headers.get("content-length")]).toEqual([200, String(size)]);
      expect(await response.text()).toBe("");
    });

    test.each(["/media/nothing.mp4", "/media/..%2f..%2fetc%2fpasswd", `/media/${"0".repeat(64)}.mp4`, "/media/"])(
      "%s is not found",
      async (path) => {
        expect((await get(path)).status).toBe(404);
      },
    );
  });
});
