import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import * as media from "mediabunny";
import { afterAll, beforeAll, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { taggedJpeg, taggedMp4, taggedPng, taggedWebm, taggedWebp } from "../../test/fixtures/tagged-media.ts";
import { migrations } from "../migrations.ts";
import { addCreative } from "./add-creative.ts";
import { setPoster } from "./captions-and-posters.ts";
import { openFfmpeg } from "./ffmpeg.ts";
import { inspectVideo } from "./inspect-video.ts";
import { type FolderStorage, folderStorage } from "./media-storage.ts";
import { orientationIn } from "./picture-orientation.ts";
import { strippedPicture } from "./strip-picture.ts";
import { stripVideo } from "./strip-video.ts";

const clip = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");
const now = new Date("2026-03-01T12:00:00Z");
/** Each part of a tagged file that must not be published has this in it. */
const PRIVATE = "+52.5200";

let store: TestDatabase;
let folder: string;
let storage: FolderStorage;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  folder = await mkdtemp(join(tmpdir(), "intermission-stripped-"));
  storage = folderStorage(join(folder, "media"));
});
afterAll(async () => {
  await store.dispose();
  await rm(folder, { recursive: true });
});

async function add(bytes: Buffer, name: string) {
  const deps = { database: store.database, media: storage, ffmpeg: openFfmpeg("no-such-ffmpeg") };
  const added = await addCreative(deps, { bytes: chunksOf(bytes), name, now });
  if (added.outcome !== "added") throw new Error(refusalOf(added));
  return added.creative;
}

async function* chunksOf(bytes: Buffer) {
  yield bytes;
}

const stored = (fileName: string | null) => readFile(join(storage.folder, fileName ?? ""));

/** What a player decodes: each packet of each track, with its time. */
async function packetsOf(bytes: Buffer): Promise<unknown[]> {
  const input = new media.Input({ source: new media.BufferSource(bytes), formats: media.ALL_FORMATS });
  const packets: unknown[] = [];
  for (const track of [...(await input.getVideoTracks()), ...(await input.getAudioTracks())])
    for await (const { timestamp, duration, data } of new media.EncodedPacketSink(track).packets())
      packets.push({ codec: track.codec, timestamp, duration, data: Buffer.from(data).toString("hex") });
  return packets;
}

test("an MP4 that is stored as it is tells neither where nor when it was taken, and plays the same bytes", async () => {
  const tagged = taggedMp4(await readFile(clip), PRIVATE);
  expect(tagged.toString("latin1").split(PRIVATE).length - 1).toBe(9);
  const creative = await add(tagged, "tagged.mp4");
  const published = await stored(creative.fileName);
  expect(published.toString("latin1")).not.toContain(PRIVATE);
  const packets = await packetsOf(published);
  expect(packets.length).toBeGreaterThan(50);
  expect(packets).toEqual(await packetsOf(tagged));
  const input = new media.Input({ source: new media.BufferSource(published), formats: media.ALL_FORMATS });
  expect((await input.getTracks()).map(({ type }) => type)).toEqual(["video", "audio"]);
  // Moments of the movie and of each track.
  for (const type of ["mvhd", "tkhd", "mdhd"]) {
    for (let at = published.indexOf(type); at >= 0; at = published.indexOf(type, at + 4))
      expect(published.readBigUInt64BE(at + 8)).toBe(0n);
  }
});

test("files that differ in their notes alone are creatives of their own, which share the stored file", async () => {
  const plain = await readFile(clip);
  const [one, other, again] = [
    await add(taggedMp4(plain, "+40.7128"), "one.mp4"),
    await add(taggedMp4(plain, "-33.8568"), "other.mp4"),
    await add(taggedMp4(plain, "+40.7128"), "one.mp4"),
  ];
  expect(other.creativeId).not.toBe(one.creativeId);
  expect(again.creativeId).toBe(one.creativeId);
  expect(other.fileName).toBe(one.fileName);
});

test("a WebM loses its tags, attachments, chapters, titles and hidden tracks, and plays the same bytes", async () => {
  const tagged = await taggedWebm(PRIVATE);
  const path = join(folder, "tagged.webm");
  await writeFile(path, tagged);
  const before = await inspectVideo(path);
  expect(await stripVideo(path, "webm")).toBeUndefined();
  const stripped = await readFile(path);
  expect(stripped.toString("latin1")).not.toContain(PRIVATE);
  const packets = await packetsOf(stripped);
  expect(packets.length).toBe(60);
  expect(packets).toEqual(await packetsOf(tagged));
  expect(await inspectVideo(path)).toEqual(before);
  expect(before.outcome).toBe("playable");
});

test("a video that has nothing but picture and sound stays as it is", async () => {
  const path = join(folder, "plain.mp4");
  await copyFile(clip, path);
  expect(await stripVideo(path, "mp4")).toBeUndefined();
  expect(await readFile(path)).toEqual(await readFile(clip));
});

test.each([
  ["jpg", taggedJpeg],
  ["png", taggedPng],
  ["webp", taggedWebp],
] as const)(
  "a poster (%s) is stored without the notes of the camera, and keeps its pixels and colours",
  async (extension, tag) => {
    const { creativeId } = await add(await readFile(clip), "clip.mp4");
    const tagged = tag(PRIVATE, 1);
    expect(tagged.bytes.toString("latin1")).toContain(PRIVATE);
    const set = await setPoster(
      { database: store.database, media: storage, ffmpeg: openFfmpeg("no-such-ffmpeg") },
      { creativeId, bytes: chunksOf(tagged.bytes), name: "photo", isSubmission: false },
    );
    if (set.outcome !== "changed") throw new Error(JSON.stringify(set));
    const published = await stored(set.creative.posterFileName);
    expect(published.toString("latin1")).not.toContain(PRIVATE);
    for (const part of tagged.kept) expect(published.includes(part)).toBe(true);
    expect(published.includes("MM\0*")).toBe(false);
    // What has been stripped stays as it is.
    expect(strippedPicture(published, extension)).toEqual(published);
    // What is still turned keeps that note alone.
    const turned = strippedPicture(tag(PRIVATE, 6).bytes, extension) ?? Buffer.alloc(0);
    expect(turned.toString("latin1")).not.toContain(PRIVATE);
    expect(orientationIn(turned.subarray(turned.indexOf("MM\0*", 0, "latin1")))).toBe(6);
  },
);
