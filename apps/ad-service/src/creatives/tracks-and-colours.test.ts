import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import {
  addedOf,
  h264,
  hasFfmpeg,
  meanColour,
  openVideoFixture,
  type VideoFixture,
} from "../../test/fixtures/video-fixture.ts";
import { inspectPicture } from "./inspect-picture.ts";

const run = promisify(execFile);
const sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=2"];
const red = ["-f", "lavfi", "-i", "color=red:s=96x64:r=10:d=2"];
const blue = ["-f", "lavfi", "-i", "color=blue:s=160x96:r=10:d=2"];
const vp8 = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"];
const fast = ["-movflags", "+faststart"];

describe.skipIf(!hasFfmpeg)("a video as cameras, editors and recorders write it", () => {
  let fixture: VideoFixture;
  let cover: string;

  beforeAll(async () => {
    fixture = await openVideoFixture();
    cover = await fixture.make("cover.jpg", "-f", "lavfi", "-i", "color=lime:s=64x64", "-frames:v", "1");
  });
  afterAll(() => fixture.dispose());

  const near = (colour: readonly number[], expected: readonly number[], tolerance = 40) =>
    expect(Math.max(...colour.map((part, index) => Math.abs(part - (expected[index] ?? 0))))).toBeLessThan(tolerance);
  const RED = [255, 0, 0];
  const BLUE = [0, 0, 255];

  /** The kinds and codecs of a stored file's tracks. */
  async function tracksOf(fileName: string | null): Promise<string[]> {
    const words = ["-v", "error", "-show_entries", "stream=codec_type,codec_name", "-of", "csv=p=0"];
    const { stdout } = await run("ffprobe", [...words, join(fixture.media.folder, String(fileName))]);
    return stdout.trim().split("\n");
  }

  interface Tracks {
    name: string;
    file: string;
    words: () => string[];
    tracks: string[];
    colour: readonly number[];
    message: RegExp;
    tags?: string[];
  }
  const converted: Tracks[] = [
    {
      name: "Matroska with H.264 and AAC is copied to an MP4",
      file: "h264.mkv",
      words: () => [...red, ...sound, ...h264, "-c:a", "aac"],
      tracks: ["h264,video", "aac,audio"],
      colour: RED,
      message: /Matroska file, not an MP4/,
    },
    {
      name: "Matroska with VP8 and Opus is copied to a WebM",
      file: "vp8.mkv",
      words: () => [...red, ...sound, ...vp8, "-c:a", "libopus"],
      tracks: ["vp8,video", "opus,audio"],
      colour: RED,
      message: /Matroska file, not a WebM/,
      tags: ["long"],
    },
    {
      name: "Matroska with H.264 and Opus keeps its picture",
      file: "opus.mkv",
      words: () => [...red, ...sound, ...h264, "-c:a", "libopus"],
      tracks: ["h264,video", "aac,audio"],
      colour: RED,
      message: /audio is opus/,
      tags: ["long"],
    },
    {
      name: "Matroska with MPEG-4 and a cover picture becomes H.264",
      file: "cover.mkv",
      words: () => [...red, ...sound, "-c:v", "mpeg4", "-attach", cover, "-metadata:s:t", "mimetype=image/jpeg"],
      tracks: ["h264,video", "aac,audio"],
      colour: RED,
      message: /an MP4 needs H.264/,
      tags: ["long"],
    },
    {
      name: "of two picture tracks the default one is kept, where it is the second",
      file: "second.mp4",
      words: () => [
        ...blue,
        ...red,
        ...sound,
        "-map",
        "0",
        "-map",
        "1",
        "-map",
        "2",
        ...h264,
        ...defaultSecond,
        ...fast,
      ],
      tracks: ["h264,video", "aac,audio"],
      colour: RED,
      message: /2 tracks of pictures/,
      tags: ["long"],
    },
    {
      name: "of two picture tracks the default one is kept, where it is the first",
      file: "first.mp4",
      words: () => [...blue, ...red, ...sound, "-map", "0", "-map", "1", "-map", "2", ...h264, ...fast],
      tracks: ["h264,video", "aac,audio"],
      colour: BLUE,
      message: /2 tracks of pictures/,
      tags: ["long"],
    },
    {
      name: "of two picture tracks in Matroska the default one is kept",
      file: "default.mkv",
      words: () => [
        ...blue,
        ...red,
        ...sound,
        "-map",
        "0",
        "-map",
        "1",
        "-map",
        "2",
        ...h264,
        ...defaultSecond,
        "-c:a",
        "aac",
      ],
      tracks: ["h264,video", "aac,audio"],
      colour: RED,
      message: /Matroska/,
      tags: ["long"],
    },
    {
      name: "a cover picture that is the first track of pictures is dropped",
      file: "cover-first.mp4",
      words: () => [
        "-i",
        cover,
        ...red,
        ...sound,
        "-map",
        "0",
        "-map",
        "1",
        "-map",
        "2",
        "-c:v:0",
        "copy",
        "-c:v:1",
        "libx264",
        "-pix_fmt:v:1",
        "yuv420p",
        ...fast,
      ],
      tracks: ["h264,video", "aac,audio"],
      colour: RED,
      message: /2 tracks of pictures/,
      tags: ["long"],
    },
    {
      name: "a QuickTime file with a timecode and chapters keeps picture and sound",
      file: "timecode.mov",
      words: () => [
        ...red,
        ...sound,
        "-i",
        fixture.pathOf("chapters.txt"),
        "-map_metadata",
        "2",
        ...h264,
        "-c:a",
        "aac",
        "-timecode",
        "01:00:00:00",
        ...fast,
      ],
      tracks: ["h264,video", "aac,audio"],
      colour: RED,
      message: /QuickTime/,
      tags: ["long"],
    },
    {
      name: "a second track of sound that lasts longer is dropped",
      file: "longer-sound.mp4",
      words: () => [
        ...red,
        ...sound,
        "-f",
        "lavfi",
        "-i",
        "sine=duration=9",
        "-map",
        "0",
        "-map",
        "1",
        "-map",
        "2",
        ...h264,
        ...fast,
      ],
      tracks: ["h264,video", "aac,audio"],
      colour: RED,
      message: /lasts longer/,
      tags: ["long"],
    },
  ];
  const defaultSecond = ["-disposition:v:0", "0", "-disposition:v:1", "default"];

  for (const { name, file, words, tracks, colour, message, tags = [] } of converted) {
    test(name, { tags }, async () => {
      await writeFile(
        fixture.pathOf("chapters.txt"),
        ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=900\ntitle=one\n",
      );
      const path = await fixture.make(file, ...words());
      const without = await fixture.add(path, "no-such-ffmpeg");
      expect(refusalOf(without)).toMatch(message);
      const command = without.outcome === "refused" ? (without.conversion ?? "") : "";
      const added = await fixture.add(path);
      expect(added).toHaveProperty("converted", expect.stringMatching(message));
      const { fileName, posterFileName, durationMs, width } = addedOf(added);
      expect(await tracksOf(fileName)).toEqual(tracks);
      expect(Math.abs(Number(durationMs) - 2000)).toBeLessThan(200);
      near(await fixture.colourAt(posterFileName), colour);
      near(await fixture.colourAt(fileName, 1), colour);
      expect(width).toBe(colour === RED ? 96 : 160);
      // The owner's own conversion is accepted, too.
      await run("sh", ["-c", command], { cwd: fixture.folder });
      const byHand = path.replace(/\.\w+$/, tracks[0]?.startsWith("vp8") ? "-converted.webm" : "-converted.mp4");
      expect(await fixture.add(byHand, "no-such-ffmpeg")).toMatchObject({ outcome: "added" });
    });
  }

  test("tracks that no browser shows, and a second language, change nothing", { tags: "long" }, async () => {
    await writeFile(fixture.pathOf("text.vtt"), "WEBVTT\n\n00:00.000 --> 00:01.500\nhello\n");
    const texts = ["-i", fixture.pathOf("text.vtt"), "-c:s", "mov_text", "-timecode", "01:00:00:00"];
    const words = [...red, ...sound, ...sound, ...texts, "-map", "0", "-map", "1", "-map", "2", "-map", "3", ...h264];
    const path = await fixture.make("texts.mp4", ...words, ...fast);
    const file = await readFile(path);
    // An unknown codec of the second sound, as of a microphone array.
    file.write("xyzw", file.lastIndexOf("mp4a", file.lastIndexOf("esds")), "latin1");
    await writeFile(path, file);
    const added = await fixture.add(path, "no-such-ffmpeg");
    expect(addedOf(added)).toMatchObject({ width: 96, height: 64, durationMs: expect.closeTo(2000, -2) });
  });

  test.each([
    { profile: "main", config: [0x0a, 0x08], named: "mp4a.40.1" },
    { profile: "low delay", config: [0xba, 0x08], named: "mp4a.40.23" },
  ])("sound of an AAC profile that not every browser plays is refused ($profile)", async ({ config, named }) => {
    const path = await fixture.make(`${named}.mp4`, ...red, ...sound, ...h264, "-c:a", "aac", "-ar", "44100", ...fast);
    const file = await readFile(path);
    // The AudioSpecificConfig of the esds box: LC, 44.1 kHz, mono.
    const at = file.indexOf(Buffer.from([0x12, 0x08]), file.indexOf("esds"));
    expect(at).toBeGreaterThan(0);
    file.set(config, at);
    await writeFile(path, file);
    expect(refusalOf(await fixture.add(path, "no-such-ffmpeg"))).toContain(named);
  });

  describe("with pixels that are not square", () => {
    const wide = ["-vf", "setsar=2/1"];
    const halves = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=10:d=2,noise=alls=60:allf=t"];

    test.each([
      { file: "wide.mp4", words: [...h264, ...fast], width: 640, height: 240 },
      { file: "wide.webm", words: vp8, width: 640, height: 240 },
      { file: "wide.mkv", words: h264, width: 640, height: 240 },
      { file: "encoded.mkv", words: ["-c:v", "mpeg4", "-q:v", "2"], width: 640, height: 240 },
    ])(
      "$file is as wide as it is shown, and so are its poster and its lighter files",
      { tags: "long" },
      async (row) => {
        const added = addedOf(
          await fixture.add(await fixture.make(row.file, ...halves, ...wide, ...row.words, "-b:v", "8M")),
        );
        expect(added).toMatchObject({ width: row.width, height: row.height });
        const poster = inspectPicture(await fixture.read(added.posterFileName));
        expect(poster).toMatchObject({ picture: { width: 640, height: 240 } });
        for (const { width, height } of added.renditions) expect(width / height).toBeCloseTo(640 / 240, 1);
        if (row.file === "wide.mp4") expect(added.renditions.length).toBeGreaterThan(0);
      },
    );
  });

  describe("without pictures at the moment of its poster", () => {
    const withoutPictures = [
      { name: "a still with sound", words: ["-f", "lavfi", "-i", "color=red:s=96x64:r=1/2:d=2", ...sound], tags: [] },
      {
        name: "a black still",
        words: ["-f", "lavfi", "-i", "color=black:s=96x64:r=1/2:d=2", ...sound],
        tags: ["long"],
      },
      { name: "slides of 5 s", words: ["-f", "lavfi", "-i", "color=red:s=96x64:r=1/5:d=20"], tags: ["long"] },
      {
        name: "sound that lasts longer than a picture of half a second",
        words: ["-f", "lavfi", "-i", "color=red:s=96x64:r=10:d=0.5", ...sound],
        tags: ["long"],
      },
    ];
    for (const { name, words, tags } of withoutPictures) {
      test(`${name} has a poster that can be read`, { tags }, async () => {
        const path = await fixture.make(`${name}.mp4`, ...words, ...h264, "-c:a", "aac", ...fast);
        const added = await fixture.add(path);
        expect(added).not.toHaveProperty("posterFault");
        const poster = await fixture.read(addedOf(added).posterFileName);
        expect(inspectPicture(poster)).toMatchObject({ picture: { width: 96, height: 64 } });
      });
    }

    test("an ffmpeg that finds no picture is reported, and nothing unreadable is stored", async () => {
      const path = await fixture.make("no-poster.mp4", ...red, ...h264, "-crf", "40", ...fast);
      const ffmpeg = fixture.pathOf("ffmpeg-without-pictures");
      const makeNothing = `for last; do :; done; case "$*" in *frames:v*) printf RIFF0000 > "$(echo "$last" | cut -c6-)"; exit 0 ;; esac`;
      await writeFile(ffmpeg, `#!/bin/sh\n${makeNothing}\nexec ffmpeg "$@"\n`, { mode: 0o755 });
      const added = await fixture.add(path, ffmpeg);
      expect(added).toMatchObject({
        creative: { posterFileName: null },
        posterFault: expect.stringMatching(/no picture/),
      });
    });
  });

  describe("with high dynamic range or ten bits", () => {
    /** A patch of the white of 8-bit screens, of 100 cd/m², as phones encode it. */
    const patch = (transfer: string, format = "yuv420p10le") =>
      [
        "format=yuv444p,zscale=pin=bt709:tin=bt709:min=bt709:rin=tv",
        `p=bt2020:t=${transfer}:m=bt2020nc:r=tv:npl=100,format=${format}`,
      ].join(":");
    const white = ["-f", "lavfi", "-i", "color=white:s=96x64:r=10:d=2"];
    const tagged = (transfer: string) => [
      "-color_primaries",
      "bt2020",
      "-color_trc",
      transfer,
      "-colorspace",
      "bt2020nc",
    ];
    const hevc = ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", "-tag:v", "hvc1"];
    const vp9 = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"];

    const screenWhites: { file: string; transfer: string; format?: string; words: string[]; tags: string[] }[] = [
      { file: "pq.mp4", transfer: "smpte2084", words: [...hevc, ...tagged("smpte2084"), ...fast], tags: [] },
      { file: "hlg.mov", transfer: "arib-std-b67", words: [...hevc, ...tagged("arib-std-b67")], tags: ["long"] },
      { file: "hlg.mkv", transfer: "arib-std-b67", words: [...hevc, ...tagged("arib-std-b67")], tags: ["long"] },
      { file: "hlg.webm", transfer: "arib-std-b67", words: [...vp9, ...tagged("arib-std-b67")], tags: ["long"] },
      { file: "pq.webm", transfer: "smpte2084", words: [...vp9, ...tagged("smpte2084")], tags: ["long"] },
      {
        file: "hlg-h264.mp4",
        transfer: "arib-std-b67",
        words: ["-c:v", "libx264", ...tagged("arib-std-b67"), ...fast],
        tags: ["long"],
      },
      {
        file: "hlg-8-bits.mp4",
        transfer: "arib-std-b67",
        format: "yuv420p",
        words: ["-c:v", "libx264", ...tagged("arib-std-b67"), ...fast],
        tags: ["long"],
      },
      {
        file: "hlg-in-the-picture-only.mp4",
        transfer: "arib-std-b67",
        words: [
          "-c:v",
          "libx264",
          "-x264-params",
          "colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc",
          ...fast,
        ],
        tags: ["long"],
      },
    ];
    for (const { file, transfer, format, words, tags } of screenWhites) {
      test(`the white of ${file} is that of the screen: 190 of 255, not grey`, { tags }, async () => {
        const path = await fixture.make(file, ...white, "-vf", patch(transfer, format), ...words);
        expect(await fixture.add(path, "no-such-ffmpeg")).toMatchObject({
          outcome: "refused",
          conversion: expect.stringMatching(/tonemap/),
        });
        const added = await fixture.add(path);
        expect(added).toHaveProperty("converted");
        const { fileName, posterFileName, mediaType } = addedOf(added);
        expect(mediaType).toBe("video/mp4");
        near(await fixture.colourAt(posterFileName), [190, 190, 190], 8);
        near(await fixture.colourAt(fileName, 1), [190, 190, 190], 8);
      });
    }

    test("colours of a wide gamut stay what they are", { tags: "long" }, async () => {
      const lime = ["-f", "lavfi", "-i", "color=#20a040:s=96x64:r=10:d=2"];
      const wide = "format=yuv444p,zscale=pin=bt709:tin=bt709:min=bt709:rin=tv:p=bt2020:t=bt2020-10:m=bt2020nc:r=tv";
      const words = ["-vf", `${wide},format=yuv420p10le`, ...hevc, ...tagged("bt2020-10"), ...fast];
      const { posterFileName } = addedOf(await fixture.add(await fixture.make("wide.mp4", ...lime, ...words)));
      near(await fixture.colourAt(posterFileName), [0x20, 0xa0, 0x40], 12);
    });

    test.each([
      { file: "10-bits.mp4", words: ["-c:v", "libx264", ...fast], message: /avc1\.6e/ },
      { file: "10-bits.webm", words: vp9, message: /vp09\.02/ },
    ])("$file is made one of 8 bits with the same colours", { tags: "long" }, async ({ file, words, message }) => {
      const path = await fixture.make(file, ...red, "-pix_fmt", "yuv420p10le", ...words);
      near(await meanColour(path, 1), RED);
      const added = await fixture.add(path);
      expect(added).toHaveProperty("converted", expect.stringMatching(message));
      expect(await tracksOf(addedOf(added).fileName)).toEqual(["h264,video"]);
      near(await fixture.colourAt(addedOf(added).posterFileName), RED);
    });
  });
});
