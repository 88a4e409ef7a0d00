import { expect, test } from "vitest";
import { chooseRendition, lighterThan } from "./choose-rendition.ts";

const original = { name: "original", width: 1080, height: 1920, bitrate: 5200 };
const middle = { name: "480p", width: 480, height: 854, bitrate: 880 };
const light = { name: "360p", width: 360, height: 640, bitrate: 430 };
const files = [original, light, middle];

test.each([
  { device: { shorterSide: 1080, bitrate: 6000 }, name: "original" },
  { device: { shorterSide: 720, bitrate: 2500 }, name: "480p" },
  { device: { shorterSide: 720, bitrate: 700 }, name: "360p" },
  { device: { shorterSide: 360, bitrate: 6000 }, name: "360p" },
  { device: { shorterSide: 240, bitrate: 100 }, name: "360p" },
])("a device of $device is sent $name", ({ device, name }) => {
  expect(chooseRendition(files, device)?.name).toBe(name);
});

test("the original, if it is the only file, is chosen for every device", () => {
  expect(chooseRendition([original], { shorterSide: 100, bitrate: 1 })).toBe(original);
});

test("the files that a player may step down to are lighter than its current one, the heaviest first", () => {
  expect(lighterThan(original, files)).toEqual([middle, light]);
  expect(lighterThan(middle, files)).toEqual([light]);
  expect(lighterThan(light, files)).toEqual([]);
});
