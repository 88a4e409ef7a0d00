import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { migrations } from "../migrations.ts";
import { addCreative } from "./add-creative.ts";
import { removeCaptions, setCaptions } from "./captions-and-posters.ts";
import { addVastTag, findCreative } from "./creatives.ts";
import { openFfmpeg } from "./ffmpeg.ts";
import { type FolderStorage, folderStorage } from "./media-storage.ts";
import { mediaRoutes } from "./routes.ts";

const clip = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");
const now = new Date("2026-03-01T12:00:00Z");
const hello = "WEBVTT\n\n00:00.000 --> 00:01.500\nHello\n";

describe("captions", () => {
  let store: TestDatabase;
  let folder: string;
  let media: FolderStorage;
  let creativeId: string;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    folder = await mkdtemp(join(tmpdir(), "intermission-captions-"));
    media = folderStorage(folder);
    const upload = { bytes: createReadStream(clip), name: "clip.mp4", now };
    const added = await addCreative({ database: store.database, media, ffmpeg: openFfmpeg("no-such-ffmpeg") }, upload);
    if (added.outcome !== "added") throw new Error(refusalOf(added));
    creativeId = added.creative.creativeId;
  });
  afterAll(async () => {
    await store.dispose();
    await rm(folder, { recursive: true });
  });

  async function* bytesOf(file: string | Uint8Array) {
    yield typeof file === "string" ? new TextEncoder().encode(file) : file;
  }
  const set = (file: string | Uint8Array, language = "en", id = creativeId) =>
    setCaptions(
      { database: store.database, media },
      { creativeId: id, language, bytes: bytesOf(file), isSubmission: false },
    );
  const remove = (language: string) => removeCaptions(store.database, { creativeId, language, isSubmission: false });
  const languages = async () =>
    (await findCreative(store.database, creativeId))?.captions.map(({ language }) => language);

  // Of languages added at the same time any ten win: no test may depend on the ones that an earlier test left.
  beforeEach(async () => {
    for (const language of (await languages()) ?? []) await remove(language);
  });

  test("are added, replaced and removed by language, under the hash of their bytes", async () => {
    expect(await set(hello)).toMatchObject({ outcome: "changed" });
    expect(await set(`${hello}more`, "PT-br")).toMatchObject({ outcome: "changed" });
    expect(await set(`${hello}better`, "EN")).toMatchObject({ outcome: "changed" });
    const { captions = [] } = (await findCreative(store.database, creativeId)) ?? {};
    expect(captions.map(({ language }) => language)).toEqual(["en", "pt-BR"]);
    expect(new Set(captions.map(({ fileName }) => fileName)).size).toBe(2);
    expect(await readdir(folder)).toEqual(expect.arrayContaining(captions.map(({ fileName }) => fileName)));
    expect(await remove("pt-br")).toMatchObject({ outcome: "changed" });
    expect(await remove("pt-BR")).toEqual({ outcome: "no-such-captions" });
    expect(await languages()).toEqual(["en"]);
  });

  test.each<[string, string | Uint8Array, RegExp]>([
    ["another format", "1\n00:00:00,000 --> 00:00:01,000\nHello\n", /begin with WEBVTT.*ffmpeg -i/],
    ["a longer first word", `WEBVTTX${hello.slice(6)}`, /begin with WEBVTT/],
    ["another encoding", Uint8Array.from([...new TextEncoder().encode(hello), 0xff]), /UTF-8/],
    ["an invalid time", "WEBVTT\n\n00:02.000 --> 00:01.000\nHello\n", /^line 3 /],
    ["no captions", "WEBVTT\n\nNOTE empty\n", /no caption is shown/],
    ["captions after the end", hello.replaceAll("00:0", "10:0"), /no caption is shown/],
    ["more than 256 KiB", `${hello}${"x".repeat(256 * 1024)}`, /256 KiB/],
  ])("%s is refused with the remedy, and the previous captions stay", async (_name, file, message) => {
    await set(hello);
    const before = await findCreative(store.database, creativeId);
    expect(refusalOf(await set(file))).toMatch(message);
    expect(await findCreative(store.database, creativeId)).toEqual(before);
  });

  test("a byte order mark and Windows line endings are accepted", async () => {
    expect(await set(`\uFEFF${hello.replaceAll("\n", "\r\n")}`)).toMatchObject({ outcome: "changed" });
  });

  test.each(["", "e", "english", "en_US", "../x", "en-", "en-a-a"])("%j is not a language", async (language) => {
    expect(await set(hello, language)).toMatchObject({ outcome: "refused" });
  });

  test("ten languages fit, even when they are added at the same time", async () => {
    const tags = ["ar", "de", "en", "es", "fa", "fr", "hi", "id", "pt", "ru", "tr", "uk"];
    const outcomes = await Promise.all(tags.map((tag) => set(hello, tag)));
    expect(outcomes.filter(({ outcome }) => outcome === "changed")).toHaveLength(10);
    const [one = ""] = (await languages()) ?? [];
    expect(await set(`${hello}again`, one)).toMatchObject({ outcome: "changed" });
  });

  test("a missing creative and a VAST tag can have none", async () => {
    expect(await set(hello, "en", "cre_none")).toEqual({ outcome: "unknown-creative" });
    const url = "https://tags.example.net/vast";
    const tag = await addVastTag(store.database, { url, now });
    expect(await set(hello, "en", tag.creativeId)).toMatchObject({ outcome: "refused" });
  });

  test("are served to any origin as WebVTT, cached forever, and run no script when opened as a page", async () => {
    const added = await set(hello);
    if (added.outcome !== "changed") throw new Error(added.outcome);
    const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    mediaRoutes(app, { media });
    const file = added.creative.captions.find(({ language }) => language === "en")?.fileName;
    const response = await app.inject({ url: `/media/${file}` });
    expect([response.statusCode, response.body]).toEqual([200, hello]);
    expect(response.headers).toMatchObject({
      "content-type": "text/vtt; charset=utf-8",
      "access-control-allow-origin": "*",
      "cache-control": "public, max-age=31536000, immutable",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
    await app.close();
  });
});
