import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import type { FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import S3rver from "s3rver";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { addCampaign } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";
import { addCreative } from "./add-creative.ts";
import { type BucketStorage, bucketStorage, type MediaBucket } from "./bucket-storage.ts";
import { setCaptions } from "./captions-and-posters.ts";

import { openFfmpeg } from "./ffmpeg.ts";
import { listCreatives } from "./list-creatives.ts";
import { keepBytes } from "./media-storage.ts";
import { findMissingMedia, startCheckingMedia } from "./missing-media.ts";
import { mediaRoutes } from "./routes.ts";

const clip = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");

describe("videos in a bucket, on an S3-compatible server", () => {
  let store: TestDatabase;
  let folder: string;
  let server: S3rver;
  let media: BucketStorage;
  let app: FastifyInstance;
  let address: string;
  let endpoint: string;
  let file: string;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    folder = await mkdtemp(join(tmpdir(), "intermission-bucket-"));
    server = new S3rver({
      address: "127.0.0.1",
      port: 0,
      silent: true,
      directory: folder,
      configureBuckets: [{ name: "videos", configs: [] }],
    });
    const { port } = await server.run();
    const keys = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
    endpoint = `http://127.0.0.1:${port}`;
    media = await bucketStorage({ kind: "bucket", endpoint, region: "us-east-1", bucket: "videos", ...keys });
    app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    mediaRoutes(app, { media });
    address = await app.listen({ host: "127.0.0.1", port: 0 });
    const upload = { bytes: createReadStream(clip), name: "clip.mp4", now: new Date() };
    const added = await addCreative({ database: store.database, media, ffmpeg: openFfmpeg() }, upload);
    if (added.outcome !== "added") throw new Error(refusalOf(added));
    file = `/media/${added.creative.fileName}`;
  });
  afterAll(async () => {
    await app.close();
    await server.close();
    await store.dispose();
    await rm(folder, { recursive: true });
  });

  const get = (path: string, headers: Record<string, string> = {}) => fetch(address + path, { headers });

  test("a file that the bucket lacks is missing: a bucket that was set over a folder has none of its videos", async () => {
    expect(await media.has(file.replace("/media/", ""))).toBe(true);
    expect(await media.has(`${"0".repeat(64)}.mp4`)).toBe(false);
    const { database } = store;
    const campaign = { name: "Shop", advertiser: "Shop", formats: ["rewarded" as const], now: new Date() };
    const [creative] = (await listCreatives(database, { order: "newest", limit: 10 })).rows;
    await addCampaign(database, { ...campaign, campaignId: "cmp_1", creativeIds: [creative?.creativeId ?? ""] });
    expect(await findMissingMedia({ database, media }, new Date())).toMatchObject({ missing: 0, hasNoVideo: false });
    const empty = { ...media, has: (name: string) => media.has(`0${name}`) };
    expect(await findMissingMedia({ database, media: empty }, new Date())).toMatchObject({ hasNoVideo: true });
  });

  test("the whole file is served, cached forever, and runs no script when opened as a page", async () => {
    const response = await get(file);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(await readFile(clip));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "video/mp4",
      "accept-ranges": "bytes",
      "cache-control": "public, max-age=31536000, immutable",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
  });

  test("a range, a range beyond the end, an unchanged file and a missing file are answered", async () => {
    const part = await get(file, { range: "bytes=10-19" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, expect.stringMatching(/^bytes 10-19\//)]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual((await readFile(clip)).subarray(10, 20));
    expect((await get(file, { range: "bytes=99999999-" })).status).toBe(416);
    const { etag = "" } = (await app.inject({ url: file })).headers;
    expect((await app.inject({ url: file, headers: { "if-none-match": etag } })).statusCode).toBe(304);
    expect((await get(`/media/${"0".repeat(64)}.mp4`)).status).toBe(404);
  });

  test("HEAD is answered as GET is, and reads no byte of the file from the bucket", async () => {
    let reads = 0;
    const counted: BucketStorage = {
      ...media,
      async open(name) {
        const opened = await media.open(name);
        return opened && { ...opened, read: (part) => opened.read(part).finally(() => (reads += 1)) };
      },
    };
    const other = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    mediaRoutes(other, { media: counted });
    const head = (url: string, headers: Record<string, string> = {}) => other.inject({ method: "HEAD", url, headers });
    const { statusCode, headers } = await head(file, { range: "bytes=0-1" });
    const { headers: ofGet } = await app.inject({ url: file });
    const names = ["content-length", "content-type", "etag", "accept-ranges", "cache-control"];
    const shown = (of: typeof headers) => names.map((name) => String(of[name]));
    expect([statusCode, ...shown(headers)]).toEqual([200, ...shown(ofGet)]);
    expect((await head(file, { "if-none-match": String(ofGet.etag) })).statusCode).toBe(304);
    expect((await head(`/media/${"0".repeat(64)}.mp4`)).statusCode).toBe(404);
    expect(reads).toBe(0);
    await other.close();
  });

  test("captions are served as WebVTT", async () => {
    const { creativeId } = (await listCreatives(store.database, { order: "newest", limit: 10 })).rows[0] ?? {};
    const bytes = (async function* () {
      yield Buffer.from("WEBVTT\n\n00:00.000 --> 00:01.000\nHello");
    })();
    const set = await setCaptions(
      { database: store.database, media },
      { creativeId: String(creativeId), language: "en", bytes, isSubmission: false },
    );
    if (set.outcome !== "changed") throw new Error(set.outcome);
    const response = await get(`/media/${set.creative.captions[0]?.fileName}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/vtt; charset=utf-8"]);
    expect(await response.text()).toMatch(/Hello$/);
  });

  test("uploads leave nothing behind on this machine", async () => {
    const before = (await readdir(tmpdir())).filter((name) => name.startsWith("intermission-upload-"));
    const junk = (async function* () {
      yield Buffer.from("junk");
    })();
    const refused = await addCreative(
      { database: store.database, media, ffmpeg: openFfmpeg() },
      { bytes: junk, name: "x.mp4", now: new Date() },
    );
    expect(refused).toMatchObject({ outcome: "refused" });
    const after = (await readdir(tmpdir())).filter((name) => name.startsWith("intermission-upload-"));
    expect(after.filter((name) => !before.includes(name))).toEqual([]);
  });

  /** A storage whose settings differ from the right ones. */
  const withOther = (settings: Partial<MediaBucket>) => {
    const keys = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
    const right = { kind: "bucket" as const, endpoint, region: "us-east-1", bucket: "videos", ...keys };
    return bucketStorage({ ...right, ...settings }, { pausesMs: [] });
  };

  test.each([
    ["a bucket that is not there", { bucket: "nothing" }, /has no bucket nothing: make it there, or correct S3_BUCKET/],
    ["another key", { accessKeyId: "OTHER" }, /refuses the keys \(403 InvalidAccessKeyId\): correct S3_ACCESS_KEY_ID/],
    [
      "no service",
      { endpoint: "http://127.0.0.1:9" },
      /does not answer \(ECONNREFUSED\): start it, or correct S3_ENDPOINT/,
    ],
    ["a web page", { endpoint: "page" }, /is no S3 service, as its answers have no entity tag: correct S3_ENDPOINT/],
  ] as const)(
    "with %s, nothing counts as stored or missing, and the setting is named",
    async (_what, settings, words) => {
      const page = createServer((request, response) => {
        request.resume();
        response.end("<html>");
      }).listen(0, "127.0.0.1");
      onTestFinished(() => void page.close());
      await once(page, "listening");
      const pageAt = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
      const isPage = "endpoint" in settings && settings.endpoint === "page";
      const other = await withOther(isPage ? { endpoint: pageAt } : settings);
      await expect(other.has("none.mp4")).rejects.toThrow(words);
      const isAway = "endpoint" in settings && settings.endpoint !== "page";
      await expect(keepBytes(other, Buffer.from("video"), "mp4")).rejects.toMatchObject({
        ...(isAway
          ? { statusCode: 503, code: "UNAVAILABLE", headers: { "retry-after": expect.stringMatching(/^\d+$/) } }
          : { statusCode: 507, code: "STORAGE_UNWRITABLE" }),
        message: expect.stringMatching(words),
      });
      const lines: string[] = [];
      const line = (_facts: unknown, message?: string) => void lines.push(message ?? "");
      const log = { error: line, warn: line, info: line };
      const { database } = store;
      const check = await startCheckingMedia({
        database,
        media: other,
        registry: new Registry(),
        log,
        now: () => new Date(),
      });
      onTestFinished(() => check.stop());
      expect([check.warning(), lines]).toEqual([expect.stringMatching(words), [expect.stringMatching(words)]]);
      expect(check.require).not.toThrow();
    },
  );

  test("of an unreachable bucket a player learns when to ask again, and no details", async () => {
    const keys = { accessKeyId: "S3RVER", secretAccessKey: "hidden-secret" };
    const nowhere = await bucketStorage({
      kind: "bucket",
      endpoint: "http://127.0.0.1:9",
      region: "us-east-1",
      bucket: "videos",
      ...keys,
    });
    const other = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    mediaRoutes(other, { media: nowhere });
    const answer = await other.inject({ url: file });
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "2"]);
    expect(answer.body).not.toMatch(/hidden-secret|127\.0\.0\.1/);
    await other.close();
  });
});
