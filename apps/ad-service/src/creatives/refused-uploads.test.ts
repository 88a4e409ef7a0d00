import { Agent, request as send } from "node:http";
import { mountSmallDisk } from "@intermission/testing/small-disk";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "t".repeat(32);

async function open(folder?: string) {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(() => store.dispose());
  const text = `insert into creatives (creative_id, sha256, file_name, media_type, byte_length, duration_ms, width, height)
    values ('cre_1', 'ab', 'ab.mp4', 'video/mp4', 1000, 10000, 540, 960)`;
  await store.database.run({ name: "", text }, []);
  const media = folder === undefined ? {} : { media: { kind: "folder" as const, folder, isMadeIfMissing: false } };
  const fixture = await openAppFixture(store.database, { operatorToken, ...media });
  onTestFinished(() => fixture.close());
  // One connection, as that of a proxy that keeps it.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return (method: string, path: string, body?: Buffer) =>
    new Promise<{ status: number | undefined; body: { error?: { code: string; message: string; details?: unknown } } }>(
      (resolve, reject) => {
        const headers = { authorization: `Bearer ${operatorToken}`, "content-type": "application/octet-stream" };
        const call = send(`${fixture.address}/operator/v1${path}`, { agent, method, headers }, (answer) => {
          let text = "";
          answer.on("data", (data) => {
            text += data;
          });
          answer.on("end", () => resolve({ status: answer.statusCode, body: JSON.parse(text) }));
        });
        call.setTimeout(4000, () => call.destroy(new Error("no answer for 4 s")));
        call.on("error", reject).end(body);
      },
    );
}

test.each([
  ["a poster of 2 MB and more", "/creatives/cre_1/poster", 2.5e6],
  ["captions of more than 256 KiB", "/creatives/cre_1/captions/en", 3e5],
  ["a file of an unknown video", "/creatives/cre_2/poster", 2.5e6],
])("after %s is refused, the next request on the connection is answered at once", async (_name, path, length) => {
  const ask = await open();
  for (let round = 0; round < 2; round++) {
    const refused = await ask("PUT", path, Buffer.alloc(length, "x"));
    expect([400, 404]).toContain(refused.status);
    expect((await ask("GET", "/creatives/cre_1")).status).toBe(200);
  }
});

test("what is wrong with a file has a code and values, for screens in other languages", async () => {
  const ask = await open();
  const video = await ask("POST", "/creatives?name=a.mp4", Buffer.from("#EXTM3U\nhttp://127.0.0.1/a.ts\n"));
  const message = "the file is an HLS playlist, not a video; upload the video itself as an MP4 or WebM";
  const fault = { code: "FILE_IS_OTHER", values: { kind: "an HLS playlist" } };
  expect(video).toEqual({
    status: 400,
    body: { error: { code: "BAD_REQUEST", message, details: [{ field: "file", message, ...fault }] } },
  });
  const captions = await ask("PUT", "/creatives/cre_1/captions/en", Buffer.from("WEBVTT\n\nsoon --> later\nHello\n"));
  expect(captions).toMatchObject({
    status: 400,
    body: { error: { details: [{ field: "file", code: "CAPTIONS_TIMES", values: { line: "3" } }] } },
  });
});

test("a folder of videos that became read-only is answered 507 that names it and the next step, and reads go on", async () => {
  const disk = await mountSmallDisk(2);
  onTestFinished(() => disk.remove());
  const ask = await open(disk.outside);
  disk.makeReadOnly();
  const vtt = Buffer.from("WEBVTT\n\n00:00.000 --> 00:02.000\nHello\n");
  for (const [method, path] of [
    ["POST", "/creatives?name=a.mp4"],
    ["PUT", "/creatives/cre_1/captions/en"],
  ] as const) {
    const refused = await ask(method, path, vtt);
    expect(refused).toMatchObject({ status: 507, body: { error: { code: "STORAGE_UNWRITABLE" } } });
    expect(refused.body.error?.message).toMatch(/cannot be written \(EROFS\).*repair that, then try again/);
    expect((await ask("GET", "/creatives/cre_1")).status).toBe(200);
  }
});

test("a full disk is answered 507 that names it, stores nothing, and the next request is answered at once", {
  tags: "long",
}, async () => {
  const disk = await mountSmallDisk(2);
  onTestFinished(() => disk.remove());
  const ask = await open(disk.outside);
  const video = Buffer.alloc(4e6, "x");
  const vtt = Buffer.from(`WEBVTT\n\n00:00.000 --> 00:02.000\n${"x".repeat(200_000)}\n`);
  for (const [method, path, body] of [
    ["POST", "/creatives?name=a.mp4", video],
    ["PUT", "/creatives/cre_1/captions/en", vtt],
  ] as const) {
    if (method === "PUT") disk.fill();
    const refused = await ask(method, path, body);
    expect(refused).toMatchObject({ status: 507, body: { error: { code: "STORAGE_FULL" } } });
    expect(refused.body.error?.message).toContain(`the disk of ${disk.outside}`);
    expect((await ask("GET", "/creatives/cre_1")).status).toBe(200);
  }
  disk.free();
  expect((await ask("PUT", "/creatives/cre_1/captions/en", vtt)).status).toBe(200);
});
