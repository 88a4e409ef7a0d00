import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type BucketTrouble, openFaultyBucket } from "../../test/fixtures/faulty-bucket.ts";
import { hasFfmpeg } from "../../test/fixtures/video-fixture.ts";
import { migrations } from "../migrations.ts";
import { addCreative } from "./add-creative.ts";
import { type BucketStorage, bucketStorage } from "./bucket-storage.ts";
import { openFfmpeg } from "./ffmpeg.ts";
import { type FolderStorage, folderStorage, keepBytes } from "./media-storage.ts";
import { mediaRoutes } from "./routes.ts";

const fixtures = join(import.meta.dirname, "../../../../e2e/fixtures");
const clip = join(fixtures, "clip-2s.mp4");
const PAUSES_MS = [1, 1, 1];

describe("a bucket that fails now and then", () => {
  let bucket: Awaited<ReturnType<typeof openFaultyBucket>>;
  let media: BucketStorage;
  let store: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    folder = await mkdtemp(join(tmpdir(), "intermission-away-"));
    bucket = await openFaultyBucket();
    media = await bucketStorage(bucket.place, { pausesMs: PAUSES_MS });
  });
  afterAll(async () => {
    await bucket.close();
    await store.dispose();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    bucket.recover();
    bucket.seen.splice(0);
  });

  const putCount = () => bucket.seen.filter((method) => method === "PUT").length;
  const storedBytes = async (name: string) => {
    const chunks: Buffer[] = [];
    for await (const chunk of (await (await media.open(name))?.read(undefined))?.body ?? []) chunks.push(chunk);
    return Buffer.concat(chunks);
  };

  test.each<BucketTrouble>(["slow-down", "internal-error", "bad-gateway", "throttled", "reset", "reset-after"])(
    "%s: the file is sent again from its beginning, and is stored whole",
    async (trouble) => {
      const bytes = Buffer.alloc(3_000_000, trouble);
      bucket.fail("PUT", trouble, trouble);
      const name = await keepBytes(media, bytes, "mp4");
      expect(putCount()).toBe(3);
      expect((await storedBytes(name)).equals(bytes)).toBe(true);
    },
  );

  test("a bucket that stays away is asked a bounded number of times, and the answer says when to come back", async () => {
    bucket.fail("PUT", ...Array.from({ length: 10 }, () => "slow-down" as const));
    await expect(keepBytes(media, Buffer.from("never"), "mp4")).rejects.toMatchObject({
      statusCode: 503,
      code: "UNAVAILABLE",
      headers: { "retry-after": expect.stringMatching(/^\d+$/) },
      message: expect.stringMatching(/503 SlowDown.*repeat the request/),
    });
    expect(putCount()).toBe(PAUSES_MS.length + 1);
  });

  test.skipIf(!hasFfmpeg)("what was converted before the bucket went away is not converted again", async () => {
    const log = join(folder, "runs");
    const ffmpeg = join(folder, "counted-ffmpeg");
    await writeFile(ffmpeg, `#!/bin/sh\ncase "$*" in *libx264*) echo x >> ${log} ;; esac\nexec ffmpeg "$@"\n`, {
      mode: 0o755,
    });
    const add = () =>
      addCreative(
        { database: store.database, media, ffmpeg: openFfmpeg(ffmpeg) },
        { bytes: createReadStream(join(fixtures, "hevc-2s.mp4")), name: "phone.mp4", now: new Date() },
      );
    bucket.fail("PUT", ...Array.from({ length: 10 }, () => "reset" as const));
    await expect(add()).rejects.toMatchObject({ statusCode: 503 });
    const runs = await readFile(log, "utf8");
    bucket.recover();
    expect(await add()).toMatchObject({ outcome: "added", converted: expect.stringMatching(/hevc/) });
    expect(await readFile(log, "utf8")).toBe(runs);
    expect(await readdir(join(media.uploadsFolder, "made"))).toEqual([]);
  });

  test.skipIf(!hasFfmpeg)(
    "what was made of a picture for one time is not taken for another",
    { tags: "long" },
    async () => {
      const picture = join(folder, "noise.png");
      const noise = ["-f", "lavfi", "-i", "nullsrc=s=1000x1000,geq=random(1)*255:128:128", "-frames:v", "1", picture];
      await promisify(execFile)("ffmpeg", ["-v", "error", ...noise]);
      const add = (pictureSeconds: number) =>
        addCreative(
          { database: store.database, media, ffmpeg: openFfmpeg() },
          { bytes: createReadStream(picture), name: "noise.png", pictureSeconds, now: new Date() },
        );
      bucket.fail("PUT", ...Array.from({ length: 10 }, () => "reset" as const));
      await expect(add(5)).rejects.toMatchObject({ statusCode: 503 });
      bucket.recover();
      const added = await add(6);
      if (added.outcome !== "added") throw new Error(added.outcome);
      expect(added.creative.durationMs).toBe(6000);
      expect(added.creative.renditions).not.toEqual([]);
    },
  );
});

describe("ranges of a file", () => {
  let bucket: Awaited<ReturnType<typeof openFaultyBucket>>;
  let folder: string;
  let bytes: Buffer;
  let name: string;
  const storages: { folder?: FolderStorage; bucket?: BucketStorage } = {};

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "intermission-ranges-"));
    bucket = await openFaultyBucket();
    storages.folder = folderStorage(folder);
    storages.bucket = await bucketStorage(bucket.place);
    bytes = await readFile(clip);
    for (const storage of [storages.folder, storages.bucket]) name = await keepBytes(storage, bytes, "mp4");
  });
  afterAll(async () => {
    await bucket.close();
    await rm(folder, { recursive: true });
  });

  async function get(kind: "folder" | "bucket", headers: Record<string, string>, method: "GET" | "HEAD" = "GET") {
    const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    // A storage of its own, which knows no length yet.
    const media = kind === "bucket" ? await bucketStorage(bucket.place) : storages.folder;
    if (!media) throw new Error("no storage");
    mediaRoutes(app, { media });
    const {
      statusCode: status,
      headers: found,
      rawPayload,
    } = await app.inject({ url: `/media/${name}`, headers, method });
    await app.close();
    return {
      status,
      range: found["content-range"],
      type: found["content-type"],
      length: found["content-length"],
      rawPayload,
    };
  }

  /** By RFC 9110, section 14: `from` and `to` are included; undefined for the whole file. */
  const cases: [range: string, part: [from: number, to: number] | "whole" | "not-satisfiable"][] = [
    ["bytes=0-9", [0, 9]],
    ["bytes=22000-", [22_000, -1]],
    ["bytes=-5", [-5, -1]],
    ["bytes=0-99999999", [0, -1]],
    ["bytes=-99999999", [0, -1]],
    ["Bytes=0-9", [0, 9]],
    ["bytes= 0-9 , 10-19", [0, 19]],
    ["bytes=5-9,0-6", [0, 9]],
    ["bytes=0-9,99999999-", [0, 9]],
    ["bytes=0-9,100-109", "whole"],
    ["bytes=9-0", "whole"],
    ["bytes=a-b", "whole"],
    ["bytes=", "whole"],
    ["bytes=--5", "whole"],
    ["seconds=0-9", "whole"],
    ["junk", "whole"],
    [`bytes=${"0-0,".repeat(5000)}`, "whole"],
    ["bytes=99999999-", "not-satisfiable"],
    ["bytes=-0", "not-satisfiable"],
  ];
  test.each((["folder", "bucket"] as const).flatMap((kind) => cases.map(([range, part]) => ({ kind, range, part }))))(
    "$kind: $range",
    async ({ kind, range, part }) => {
      const found = await get(kind, { range });
      const size = bytes.length;
      if (part === "not-satisfiable") {
        expect(found).toMatchObject({ status: 416, range: `bytes */${size}` });
        return;
      }
      if (part === "whole") {
        expect(found).toMatchObject({ status: 200, range: undefined, length: String(size) });
        expect(found.rawPayload.equals(bytes)).toBe(true);
        return;
      }
      const [from, to] = part.map((at) => (at < 0 ? size + at : at)) as [number, number];
      expect(found).toMatchObject({ status: 206, range: `bytes ${from}-${to}/${size}`, type: "video/mp4" });
      expect(found.rawPayload.equals(bytes.subarray(from, to + 1))).toBe(true);
    },
  );

  test("HEAD has the whole length and no range", async () => {
    for (const kind of ["folder", "bucket"] as const) {
      const found = await get(kind, { range: "bytes=0-9" }, "HEAD");
      expect(found).toMatchObject({ status: 200, length: String(bytes.length), range: undefined });
    }
  });

  test("a bucket without ranges, and one that does not say how long a file is, serve the whole file", async () => {
    bucket.state.ignoresRanges = true;
    const { status, rawPayload } = await get("bucket", { range: "bytes=0-9" });
    expect([status, rawPayload.equals(bytes)]).toEqual([200, true]);
    bucket.state.isLengthHidden = true;
    const unknown = await get("bucket", { range: "bytes=0-9" });
    expect([unknown.status, unknown.length, unknown.rawPayload.equals(bytes)]).toEqual([200, undefined, true]);
    expect((await get("bucket", {}, "HEAD")).status).toBe(200);
  });
});
