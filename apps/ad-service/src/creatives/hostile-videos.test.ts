import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { box } from "../../test/fixtures/edit-list-fixture.ts";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { migrations } from "../migrations.ts";
import { addCreative } from "./add-creative.ts";
import { openFfmpeg, runFfmpeg } from "./ffmpeg.ts";
import { type FolderStorage, folderStorage } from "./media-storage.ts";

const clip = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");
const now = new Date("2026-03-01T12:00:00Z");
const run = promisify(execFile);
const hasFfmpeg = await run("ffmpeg", ["-version"]).then(
  () => true,
  () => false,
);

/** The clip with some bytes after the first `name` replaced. */
async function patched(name: string, offset: number, bytes: readonly number[]): Promise<Buffer> {
  const file = await readFile(clip);
  Buffer.from(bytes).copy(file, file.indexOf(name, 0, "latin1") + offset);
  return file;
}

/** An MP4 whose container declares another picture size. */
function withSize(file: Buffer, width: number, height: number): Buffer {
  const sample = file.indexOf("avc1", file.indexOf("stsd", 0, "latin1"), "latin1");
  file.writeUInt16BE(width, sample + 28);
  file.writeUInt16BE(height, sample + 30);
  const header = file.indexOf("tkhd", 0, "latin1");
  file.writeUInt32BE(width * 65_536, header + 80);
  file.writeUInt32BE(height * 65_536, header + 84);
  return file;
}

/** A script in place of ffmpeg. */
async function program(folder: string, name: string, lines: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${lines}\n`);
  await chmod(path, 0o755);
  return path;
}

describe("a hostile upload", () => {
  let store: TestDatabase;
  let folder: string;
  let media: FolderStorage;
  let segment: string;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    folder = await mkdtemp(join(tmpdir(), "intermission-hostile-"));
    media = folderStorage(join(folder, "media"));
    segment = join(folder, "private.ts");
    if (hasFfmpeg) await run("ffmpeg", ["-v", "error", "-i", clip, "-c", "copy", segment]);
  });
  afterAll(async () => {
    await store.dispose();
    await rm(folder, { recursive: true });
  });

  async function add(bytes: Buffer | string, ffmpeg = "ffmpeg") {
    const upload = (async function* () {
      yield Buffer.from(bytes);
    })();
    const added = await addCreative(
      { database: store.database, media, ffmpeg: openFfmpeg(ffmpeg) },
      { bytes: upload, name: "ad.mp4", now },
    );
    if (added.outcome === "refused") expect(await readdir(media.folder)).toEqual([]);
    return added;
  }

  const playlists: [name: string, body: (file: string) => string, message: RegExp][] = [
    [
      "an HLS playlist",
      (file) => `#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:2.0,\n${file}\n#EXT-X-ENDLIST\n`,
      /HLS playlist/,
    ],
    ["one after blanks", (file) => `\ufeff\n #EXTM3U\n#EXTINF:2.0,\nfile://${file}\n#EXT-X-ENDLIST\n`, /HLS playlist/],
    ["a list of files", (file) => `ffconcat version 1.0\nfile '${file}'\n`, /list of files/],
    ["one without a header", (file) => `file '${file}'\n`, /list of files/],
    [
      "a DASH manifest",
      (file) => `<?xml version="1.0"?>\n<MPD><Period><BaseURL>file://${file}</BaseURL></Period></MPD>`,
      /manifest/,
    ],
    ["a session description", (file) => `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=${file}\nm=video 1 RTP/AVP 96\n`, /SDP/],
    ["an edit list", (file) => `# mpv EDL v0\n${file}\n`, /edit list/],
    ["a playlist in PLS", (file) => `[playlist]\nFile1=${file}\n`, /playlist/],
    ["a picture that names a file", (file) => `<svg><image href="${file}"/></svg>`, /XML/],
    ["an address", (file) => `file:${file}\n`, /addresses/],
    ["any other text", (file) => `# ${file}\n${file}\n`, /no video at all/],
  ];

  test.skipIf(!hasFfmpeg).each(playlists)(
    "%s that names a file of the server publishes nothing",
    async (_n, body, why) => {
      const added = await add(body(segment));
      expect(refusalOf(added)).toMatch(why);
      expect(added).not.toHaveProperty("conversion");
    },
  );

  test.each<[name: string, message: RegExp, bytes: () => Promise<Buffer | string>]>([
    ["a playlist", /HLS playlist/, async () => "#EXTM3U\n/etc/passwd\n"],
    [
      "the head of a PNG picture",
      /the file is truncated/,
      async () => Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"),
    ],
    [
      "the head of a JPEG picture",
      /the file is truncated/,
      async () => Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF\0", "latin1"),
    ],
    ["a GIF picture", /a GIF picture, not a JPEG, PNG or WebP/, async () => "GIF89a\x10\0\x10\0\0\0\0;"],
    ["a PDF document", /PDF document/, async () => "%PDF-1.7\n"],
    ["an archive", /archive/, async () => Buffer.from("PK\x03\x04\x14\0", "latin1")],
    ["a sound file", /sound file/, async () => Buffer.from("ID3\x04\0\0", "latin1")],
    ["another container", /not an MP4 or WebM/, async () => Buffer.concat([Buffer.from("RIFF"), Buffer.alloc(5000)])],
    ["an external data reference", /media lies in other files/, () => patched("url ", 7, [0])],
    ["an external alias", /media lies in other files/, () => patched("url ", 0, [...Buffer.from("alis"), 0, 0, 0, 0])],
    [
      "a reference movie",
      /media lies in other files/,
      async () => Buffer.concat([box("ftyp", Buffer.from("qt  0000")), box("moov", box("rmra", Buffer.alloc(8)))]),
    ],
    [
      "a compressed index",
      /compressed/,
      async () => Buffer.concat([box("ftyp", Buffer.from("qt  0000")), box("moov", box("cmov", Buffer.alloc(8)))]),
    ],
    [
      "an index of 9 MiB",
      /larger than 8 MiB/,
      async () => Buffer.concat([await readFile(clip), box("moov", Buffer.alloc(9 << 20))].reverse()),
    ],
    [
      "an index of many parts",
      /too many parts/,
      async () => box("moov", Buffer.concat(Array.from({ length: 20_000 }, () => box("free", Buffer.alloc(0))))),
    ],
    [
      "parts within parts",
      /nested too deep/,
      async () => Array.from({ length: 100 }).reduce<Buffer>((inner) => box("moov", inner), Buffer.alloc(0)),
    ],
    [
      "billions of frames in a few bytes",
      /more than 43200 frames/,
      () => patched("stts", 12, [0xff, 0xff, 0xff, 0xff]),
    ],
    ["billions of sizes in a few bytes", /more than 43200 frames/, () => patched("stsz", 12, [0xff, 0xff, 0xff, 0xff])],
    [
      "a Matroska of another kind",
      /not an MP4 or WebM that could be read/,
      async () => Buffer.from([0x1a, 0x45, 0xdf, 0xa3, ...Array(100).fill(1)]),
    ],
  ])("%s is refused before ffmpeg runs", async (_name, message, bytes) => {
    const trace = join(folder, "was-run");
    const ffmpeg = await program(folder, "traced-ffmpeg", `touch ${trace}; exit 1`);
    expect(refusalOf(await add(await bytes(), ffmpeg))).toMatch(message);
    expect(await readdir(folder)).not.toContain("was-run");
  });

  describe.skipIf(!hasFfmpeg)("made with ffmpeg", () => {
    async function made(name: string, source: string, ...words: string[]): Promise<Buffer> {
      const path = join(folder, name);
      await run("ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", source, ...words, path]);
      return readFile(path);
    }

    test("whose container declares smaller pictures than it has is not decoded", { tags: "long" }, async () => {
      const bytes = await made(
        "liar.mp4",
        "color=s=3600x3600:r=1:d=2",
        "-c:v",
        "libx264",
        "-preset",
        "ultrafast",
        "-threads",
        "1",
        "-pix_fmt",
        "yuv444p",
        "-movflags",
        "+faststart",
      );
      expect(await add(withSize(bytes, 640, 640))).toMatchObject({ outcome: "refused" });
    });

    test("that lasts an hour is refused before it is converted", async () => {
      const long = await made("long.mp4", "color=s=64x64:r=1:d=3600", "-c:v", "mpeg4", "-movflags", "+faststart");
      const ffmpeg = await program(folder, "traced-too", `touch ${join(folder, "was-run-too")}; exit 1`);
      expect(refusalOf(await add(long, ffmpeg))).toMatch(/\b1 h\b/);
      expect(await readdir(folder)).not.toContain("was-run-too");
    });

    test("in MPEG-TS is refused with the command that converts it, and is not converted here", async () => {
      const refused = await add(await readFile(segment));
      expect(refusalOf(refused)).toMatch(/not an MP4 or WebM/);
      expect(refused).toMatchObject({
        outcome: "refused",
        conversion: expect.stringMatching(/^ffmpeg -i ad\.mp4 .* ad-converted\.mp4$/),
      });
    });

    test("in 4K is converted within the limits to a video that phones play", { tags: "long" }, async () => {
      const large = await made("4k.mp4", "testsrc2=s=3840x2160:r=10:d=1.2", "-c:v", "mpeg4", "-q:v", "3");
      const added = await add(large);
      expect(added).toMatchObject({ outcome: "added", creative: { width: 1920, height: 1080 } });
    });
  });
});

describe("ffmpeg runs", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "intermission-limits-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const work = (to = "out.mp4") => {
    return { from: clip, container: "mp4", outputs: [{ words: ["-f", "mp4"], to: join(folder, to) }] } as const;
  };

  test("with limits on memory, processor time, threads and pixels, for one container and local files only", async () => {
    const output = join(folder, "output");
    const ffmpeg = await program(folder, "telling", `{ ulimit -v; ulimit -t; ulimit -c; echo "$@"; } > ${output}`);
    expect(await runFfmpeg(openFfmpeg(ffmpeg), { ...work(), maxMs: 10_000 })).toBe("done");
    const [memory, cpuSeconds, core, words] = (await readFile(output, "utf8")).split("\n");
    expect([memory, cpuSeconds, core]).toEqual(["1572864", "21", "0"]);
    const input = words?.split(" -i file:")[0];
    for (const option of ["-protocol_whitelist file", "-f mov", "-format_whitelist mov", "-enable_drefs 0"])
      expect(input).toContain(option);
    expect(input).toMatch(/-codec_whitelist \S+ .*-max_pixels 9437184 -threads 2/);
  });

  test("two at a time; sixteen wait, and further ones are reported as busy", async () => {
    const waiting = `echo > ${folder}/run-$$; while [ ! -e ${folder}/go ]; do sleep 0.05; done`;
    const ffmpeg = openFfmpeg(await program(folder, "waiting", waiting));
    const running = async () => (await readdir(folder)).filter((name) => name.startsWith("run-")).length;
    const outcomes = Array.from({ length: 20 }, () => runFfmpeg(ffmpeg, work()));
    expect(await Promise.all(outcomes.slice(18))).toEqual(["busy", "busy"]);
    await vi.waitFor(async () => expect(await running()).toBe(2), { timeout: 20_000 });
    await writeFile(join(folder, "go"), "");
    expect(new Set(await Promise.all(outcomes.slice(0, 18)))).toEqual(new Set(["done"]));
    expect(await running()).toBe(18);
  });

  test("no longer than allowed, and reports why it made nothing", async () => {
    const slow = openFfmpeg(await program(folder, "slow", "exec sleep 60"));
    expect(await runFfmpeg(slow, { ...work(), maxMs: 200 })).toBe("too-long");
    const failing = openFfmpeg(await program(folder, "failing", "exit 1"));
    expect(await runFfmpeg(failing, work())).toBe("failed");
    expect(await runFfmpeg(openFfmpeg("no-such-ffmpeg"), work())).toBe("missing");
    expect(await runFfmpeg(openFfmpeg(join(folder, "nothing-here")), work())).toBe("missing");
  });
});
