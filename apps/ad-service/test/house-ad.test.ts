import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { hasFfmpeg } from "./fixtures/video-fixture.ts";

const run = promisify(execFile);
const sample = join(import.meta.dirname, "../sample");
const width = 270;
const height = 480;

describe.skipIf(!hasFfmpeg)("the house ad", () => {
  test("ends with an end card that stands still, and its poster is that card", { tags: "long" }, async () => {
    const [early, late, poster] = [
      await frameAt(9.1),
      await frameAt(9.9),
      await pictureOf(join(sample, "house-ad.webp")),
    ];
    expect(difference(early, late)).toBeLessThan(0.002);
    expect(difference(poster, late)).toBeLessThan(0.002);
    expect(difference(await frameAt(5), late)).toBeGreaterThan(0.005);
  });

  test("shows nothing to read where the player has its pill, its buttons and the screen's edges", async () => {
    const pictures = await Promise.all([0.9, 5, 9.5].map(frameAt));
    for (const bright of pictures) {
      const rows = bright.map((index) => Math.floor(index / width) / height);
      const columns = bright.map((index) => (index % width) / width);
      expect(bright.length).toBeGreaterThan(1000);
      expect(Math.min(...rows)).toBeGreaterThan(0.16);
      expect(Math.max(...rows)).toBeLessThan(0.68);
      expect(Math.min(...columns)).toBeGreaterThan(0.1);
      expect(Math.max(...columns)).toBeLessThan(0.9);
    }
  });
});

const frameAt = (second: number) => pictureOf(join(sample, "house-ad.mp4"), "-ss", String(second));

/** The places of a picture's bright pixels: its texts and its mark. */
async function pictureOf(path: string, ...seek: string[]): Promise<number[]> {
  const words = ["-v", "error", ...seek, "-i", path, "-frames:v", "1", "-vf", `scale=${width}:${height}:flags=area`];
  const output = ["-pix_fmt", "gray", "-f", "rawvideo", "-"];
  const { stdout } = await run("ffmpeg", [...words, ...output], { encoding: "buffer", maxBuffer: 2 * width * height });
  expect(stdout).toHaveLength(width * height);
  return [...stdout.entries()].filter(([, light]) => light > 170).map(([index]) => index);
}

/** The share of a picture's places that are bright in one of the two only. */
function difference(one: readonly number[], other: readonly number[]): number {
  const others = new Set(other);
  const both = one.filter((place) => others.has(place)).length;
  return (one.length + other.length - 2 * both) / (width * height);
}
