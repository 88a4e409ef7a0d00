import { createReadStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { migrations } from "../migrations.ts";
import { downloadVideo, type GuardedRequests, openGuardedRequests } from "../outbound/guarded-request.ts";
import { addCreative, addCreativeByAddress } from "./add-creative.ts";
import { openFfmpeg } from "./ffmpeg.ts";
import { folderStorage } from "./media-storage.ts";

const clip = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");
const now = new Date("2026-03-01T12:00:00Z");

describe("a video at an address", () => {
  let store: TestDatabase;
  let folder: string;
  let server: Server;
  let address: string;
  let requests: GuardedRequests;
  const requested: string[] = [];

  const answers: Record<string, (response: ServerResponse) => void> = {
    "/clip.mp4": (response) => createReadStream(clip).pipe(response),
    "/moved": (response) => response.writeHead(302, { location: "/elsewhere/../clip.mp4?signed=1" }).end(),
    "/round": (response) => response.writeHead(302, { location: "/round" }).end(),
    "/inside": (response) => response.writeHead(302, { location: "http://10.0.0.1/clip.mp4" }).end(),
    "/page": (response) => response.end("<!doctype html><title>Sign in</title>"),
    "/cut": (response) => {
      response.writeHead(200, { "content-length": "22242" }).write(Buffer.alloc(1000));
      setTimeout(() => response.destroy(), 50);
    },
    "/endless": (response) => {
      const chunk = Buffer.alloc(1 << 20);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    },
  };

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    folder = await mkdtemp(join(tmpdir(), "intermission-fetched-"));
    server = createServer((request, response) => {
      const path = (request.url ?? "").split("?")[0] ?? "";
      requested.push(path);
      const answer = answers[path];
      if (answer) answer(response);
      else response.writeHead(404).end("nothing here");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { video: ["127.0.0.1"] } });
  });
  afterAll(async () => {
    await requests.close();
    server.closeAllConnections();
    server.close();
    await store.dispose();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    requested.length = 0;
  });

  const deps = () => ({ database: store.database, media: folderStorage(folder), ffmpeg: openFfmpeg("no-such-ffmpeg") });
  const add = (path: string, from = requests) =>
    addCreativeByAddress(
      { ...deps(), downloadVideo: (request) => downloadVideo(from, request) },
      { url: path.startsWith("/") ? address + path : path, now },
    );

  test("is stored here, and is the same creative as its upload, whatever its address", async () => {
    const added = await add("/moved");
    if (added.outcome !== "added") throw new Error(refusalOf(added));
    expect(requested).toEqual(["/moved", "/clip.mp4"]);
    expect(added.creative).toMatchObject({ kind: "file", url: null, durationMs: 2000 });
    expect(await readFile(join(folder, String(added.creative.fileName)))).toEqual(await readFile(clip));
    expect(await add("/clip.mp4")).toEqual(added);
    const upload = { bytes: createReadStream(clip), name: "clip.mp4", now };
    expect(await addCreative(deps(), upload)).toEqual(added);
  });

  test.each([
    ["/missing.mp4", /answered 404/],
    ["/round", /redirected more than 5 times/],
    ["/inside", /10\.0\.0\.1.*blocked-address/],
    ["/cut", /broke off/],
    ["/page", /not an MP4 or WebM/],
    ["/endless", /larger than 100 MiB/],
    ["nonsense", /blocked-address, this is no address/],
    ["file:///etc/passwd", /blocked-address/],
    ["http://127.0.0.1:9/x.mp4", /could not be fetched: refused/],
  ])("%s is refused with the reason, and nothing is left behind", async (path, message) => {
    const before = await readdir(folder);
    expect(refusalOf(await add(path))).toMatch(message);
    expect(await readdir(folder)).toEqual(before);
  });

  test("networks that webhooks and tags may reach are blocked for videos", async () => {
    const networks = { webhook: ["127.0.0.1"], vast: ["127.0.0.1"] };
    const others = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: networks });
    expect(refusalOf(await add("/clip.mp4", others))).toMatch(/blocked/);
    expect(requested).toEqual([]);
    await others.close();
  });
});
