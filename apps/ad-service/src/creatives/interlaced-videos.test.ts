import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "../../test/fixtures/refusal-of.ts";
import { addedOf, h264, hasFfmpeg, openVideoFixture, type VideoFixture } from "../../test/fixtures/video-fixture.ts";

const run = promisify(execFile);
/** 50 moments a second, two in each frame. */
const fields = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=50:d=2", "-vf", "tinterlace=interleave_top"];
const wholeFrames = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=2"];
const coded = ["-flags", "+ildct+ilme"];
const fast = ["-movflags", "+faststart"];
const scalingLists = ["-profile:v", "high", "-preset", "fast", "-x264-params", "cqm=jvt:interlaced=1"];

const interlaced: { file: string; words: string[]; message: RegExp; tags?: string[] }[] = [
  { file: "camera.mp4", words: [...fields, ...h264, ...coded, ...fast], message: /interlaced/ },
  {
    file: "scaling-lists.mp4",
    words: [...fields, "-c:v", "libx264", ...scalingLists, ...fast],
    message: /interlaced/,
    tags: ["long"],
  },
  { file: "recorder.mkv", words: [...fields, ...h264, ...coded], message: /interlaced.*Matroska/, tags: ["long"] },
  {
    file: "tape.mov",
    words: [...fields, "-c:v", "mpeg2video", "-q:v", "3", ...coded],
    message: /H\.264/,
    tags: ["long"],
  },
];

describe.skipIf(!hasFfmpeg)("an interlaced video", () => {
  let fixture: VideoFixture;

  beforeAll(async () => {
    fixture = await openVideoFixture();
  });
  afterAll(() => fixture.dispose());

  /** How many frames are two fields of different moments, by ffmpeg's own detection. */
  async function combedFrames(path: string): Promise<number> {
    const { stderr } = await run("ffmpeg", ["-hide_banner", "-i", path, "-vf", "idet", "-f", "null", "-"]);
    const [, top = "", bottom = ""] = /Multi frame detection: TFF: *(\d+) BFF: *(\d+)/.exec(stderr) ?? [];
    return Number(top) + Number(bottom);
  }

  for (const { file, words, message, tags = [] } of interlaced) {
    test(`${file} is stored without combs`, { tags }, async () => {
      const path = await fixture.make(file, ...words);
      expect(await combedFrames(path), "the file itself").toBeGreaterThan(40);
      const without = await fixture.add(path, "no-such-ffmpeg");
      expect(refusalOf(without)).toMatch(message);
      expect(without).toHaveProperty("conversion", expect.stringContaining("bwdif"));
      const added = await fixture.add(path);
      expect(added).toHaveProperty("converted", expect.stringMatching(message));
      const { fileName, durationMs } = addedOf(added);
      expect(durationMs).toBe(2000);
      expect(await combedFrames(join(fixture.media.folder, String(fileName)))).toBeLessThan(10);
    });
  }

  test("a file of whole frames with scaling lists is stored as it is", async () => {
    const words = ["-c:v", "libx264", "-profile:v", "high", "-x264-params", "cqm=jvt", "-pix_fmt", "yuv420p"];
    const path = await fixture.make("whole.mp4", ...wholeFrames, ...words, ...fast);
    const added = await fixture.add(path, "no-such-ffmpeg");
    expect(added).not.toHaveProperty("converted");
    expect(addedOf(added)).toMatchObject({ width: 320, height: 240 });
  });
});
