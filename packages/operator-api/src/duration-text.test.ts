import { expect, test } from "vitest";
import { durationInEnglish, durationText } from "./duration-text.ts";
import { fileFault, textOfFileFault } from "./file-faults.ts";

test.each([
  [0, "0 s"],
  [0.44, "0.4 s"],
  [180, "180 s"],
  [181.25, "181.3 s"],
  [600, "10 min"],
  [3600, "1 h"],
  [10_800, "3 h"],
  [3661, "1 h 1 min 1 s"],
  [604_800, "168 h"],
])("a duration of %d seconds is %s", (seconds, text) => {
  expect(durationInEnglish(seconds)).toBe(text);
});

test("a video that is far too long is told its length as people say it", () => {
  const fault = fileFault("VIDEO_SECONDS", { seconds: "10800.0", min: "1", max: "180" });
  expect(textOfFileFault(fault)).toBe("the video lasts 3 h: it must last 1 to 180 s");
  expect(durationText(10_860, { h: "ч", min: "мин", s: "с" })).toBe("3 ч 1 мин");
});
