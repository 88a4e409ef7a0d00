import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestEdit, withEditLists } from "../../test/fixtures/edit-list-fixture.ts";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { addedOf, h264, hasFfmpeg, openVideoFixture, type VideoFixture } from "../../test/fixtures/video-fixture.ts";
import { inspectPicture } from "./inspect-picture.ts";
import { stripVideo } from "./strip-video.ts";

/** Each colour for three seconds. */
const film = ["red", "lime", "blue"].flatMap((colour) => ["-f", "lavfi", "-i", `color=${colour}:s=96x64:r=10:d=3`]);
const sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=9"];
const joined = ["-filter_complex", "[0][1][2]concat=n=3[v]", "-map", "[v]", "-map", "3:a", "-g", "15"];

describe.skipIf(!hasFfmpeg)("the length, start and poster of a video are those of its presentation", () => {
  let fixture: VideoFixture;
  let base: string;

  beforeAll(async () => {
    fixture = await openVideoFixture();
    const codecs = [...h264, "-bf", "2", "-c:a", "aac", "-movflags", "+faststart"];
    base = await fixture.make("base.mp4", ...film, ...sound, ...joined, ...codecs);
  });
  afterAll(() => fixture.dispose());

  const colours = { red: [255, 0, 0], green: [0, 255, 0], blue: [0, 0, 255] } as const;
  async function expectColour(fileName: string | null, second: number | undefined, name: keyof typeof colours) {
    const colour = await fixture.colourAt(fileName, second);
    expect(Math.max(...colour.map((part, index) => Math.abs(part - (colours[name][index] ?? 0))))).toBeLessThan(40);
  }

  async function edited(
    name: string,
    picture: TestEdit[] | undefined,
    ofSound: TestEdit[] | undefined = picture,
  ): Promise<string> {
    const file = withEditLists(await readFile(base), (kind) => (kind === "picture" ? picture : ofSound));
    await writeFile(fixture.pathOf(name), file);
    return fixture.pathOf(name);
  }
  const shown = (seconds: number, at: number, rate = 1): TestEdit => ({ seconds, at, rate });
  const empty = (seconds: number): TestEdit => ({ seconds, at: null });

  interface Case {
    name: string;
    edits: TestEdit[];
    seconds: number;
    first: keyof typeof colours;
    last: keyof typeof colours;
    message?: RegExp;
    tags?: string[];
  }
  const lists: Case[] = [
    {
      name: "its first 4 s of 9",
      edits: [shown(4, 0)],
      seconds: 4,
      first: "red",
      last: "green",
      message: /4\.0 s of 9\.0 s/,
    },
    {
      name: "3 s of its middle",
      edits: [shown(3, 3.5)],
      seconds: 3,
      first: "green",
      last: "blue",
      message: /3\.0 s of 5\.5 s/,
      tags: ["long"],
    },
    {
      name: "two parts",
      edits: [shown(2, 0), shown(2, 6)],
      seconds: 4,
      first: "red",
      last: "blue",
      message: /2 parts/,
      tags: ["long"],
    },
    {
      name: "a part twice",
      edits: [shown(2, 3), shown(2, 3)],
      seconds: 4,
      first: "green",
      last: "green",
      message: /2 parts/,
      tags: ["long"],
    },
    {
      name: "two parts with a gap",
      edits: [shown(2, 0), empty(1), shown(2, 6)],
      seconds: 5,
      first: "red",
      last: "blue",
      message: /3 parts/,
      tags: ["long"],
    },
    {
      name: "everything after two empty seconds",
      edits: [empty(2), shown(9, 0)],
      seconds: 9,
      first: "red",
      last: "blue",
      message: /begins with 2\.0 s/,
      tags: ["long"],
    },
    {
      name: "a part without a length",
      edits: [shown(0, 0)],
      seconds: 9,
      first: "red",
      last: "blue",
      message: /without a length/,
      tags: ["long"],
    },
  ];
  for (const { name, edits, seconds, first, last, message = /^$/, tags = [] } of lists) {
    test(`a list that shows ${name}`, { tags }, async () => {
      const path = await edited(`${name}.mp4`, edits);
      const without = await fixture.add(path, "no-such-ffmpeg");
      expect(refusalOf(without)).toMatch(message);
      expect(without).toHaveProperty("conversion", expect.stringMatching(/^ffmpeg /));
      const added = await fixture.add(path);
      const { durationMs, fileName, posterFileName } = addedOf(added);
      expect(Math.abs(Number(durationMs) / 1000 - seconds)).toBeLessThan(0.25);
      await expectColour(fileName, 0, first);
      await expectColour(fileName, seconds - 0.4, last);
      expect(inspectPicture(await fixture.read(posterFileName))).toMatchObject({ picture: { width: 96, height: 64 } });
      await expectColour(posterFileName, undefined, first);
    });
  }

  const copied: { name: string; words: () => string[]; seconds: number; first: keyof typeof colours }[] = [
    { name: "the first 4 s, copied", words: () => ["-i", base, "-t", "4", "-c", "copy"], seconds: 4.2, first: "red" },
    { name: "from 4 s on, copied", words: () => ["-ss", "4", "-i", base, "-c", "copy"], seconds: 5, first: "green" },
    {
      name: "2 s of the middle, copied",
      words: () => ["-ss", "3.7", "-i", base, "-t", "2", "-c", "copy"],
      // With the frames that are stored before the last one is shown: Chromium says 2.3 s, and 4.2 s above.
      seconds: 2.3,
      first: "green",
    },
    {
      name: "a picture that begins a second after the sound",
      words: () => ["-itsoffset", "1", "-i", base, "-i", base, "-map", "0:v", "-map", "1:a", "-c", "copy"],
      seconds: 10,
      first: "red",
    },
    {
      name: "a sound that begins a second after the picture",
      words: () => ["-itsoffset", "1", "-i", base, "-i", base, "-map", "1:v", "-map", "0:a", "-c", "copy"],
      seconds: 10,
      first: "red",
    },
    {
      name: "a sound that lasts longer than the picture",
      words: () => ["-t", "4", "-i", base, "-i", base, "-map", "0:v", "-map", "1:a", "-c", "copy"],
      seconds: 9,
      first: "red",
    },
    {
      name: "an odd timescale",
      words: () => ["-i", base, "-c", "copy", "-video_track_timescale", "90001"],
      seconds: 9,
      first: "red",
    },
  ];
  test.for(copied)(
    "$name: it is stored as it is, also without ffmpeg",
    { tags: "long" },
    async ({ name, words, seconds, first }) => {
      const path = await fixture.make(`${name}.mp4`, ...words(), "-movflags", "+faststart");
      const added = await fixture.add(path, "no-such-ffmpeg");
      expect(added).not.toHaveProperty("converted");
      const { durationMs, fileName } = addedOf(added);
      expect(Math.abs(Number(durationMs) / 1000 - seconds)).toBeLessThan(0.2);
      await stripVideo(path, "mp4");
      expect(await fixture.read(fileName)).toEqual(await readFile(path));
      await expectColour(fileName, 0, first);
    },
  );

  test.each([
    { name: "without its length", flags: "+frag_keyframe+empty_moov+skip_trailer" },
    { name: "with an edit list", flags: "+frag_keyframe+delay_moov" },
    { name: "that has its first pictures in the index", flags: "+frag_keyframe" },
  ])(
    "a fragmented MP4 $name lasts as long as its fragments, and begins at once",
    { tags: "long" },
    async ({ name, flags }) => {
      const path = await fixture.make(`fragmented ${name}.mp4`, "-i", base, "-c", "copy", "-movflags", flags);
      expect(refusalOf(await fixture.add(path, "no-such-ffmpeg"))).toMatch(/fragmented/);
      expect(Math.abs(Number(addedOf(await fixture.add(path)).durationMs) - 9000)).toBeLessThan(250);
    },
  );

  test("an index that declares a wrong length of the film changes nothing", async () => {
    const file = await readFile(base);
    const header = file.indexOf("mvhd", 0, "latin1");
    file.writeUInt32BE(file.readUInt32BE(header + 16) * 200, header + 20);
    await writeFile(fixture.pathOf("wrong-length.mp4"), file);
    expect(addedOf(await fixture.add(fixture.pathOf("wrong-length.mp4")))).toMatchObject({ durationMs: 9000 });
  });

  test("a WebM that declares no length, as browsers record it, gets one", { tags: "long" }, async () => {
    const vp8 = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"];
    const live = await fixture.make("live.webm", "-i", base, "-t", "3", ...vp8, "-live", "1");
    expect(refusalOf(await fixture.add(live, "no-such-ffmpeg"))).toMatch(/no length/);
    const added = await fixture.add(live);
    expect(addedOf(added)).toMatchObject({ mediaType: "video/webm", durationMs: expect.closeTo(3000, -2) });
  });

  test("a list of 6 s of a film of 200 s is accepted with its 6 s", { tags: "long" }, async () => {
    const words = ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=2:d=200", ...h264, "-movflags", "+faststart"];
    const long = await fixture.make("200 s.mp4", ...words);
    await writeFile(
      long,
      withEditLists(await readFile(long), () => [shown(6, 0)]),
    );
    expect(addedOf(await fixture.add(long)).durationMs).toBeCloseTo(6000, -2);
  });
});
