import { describe, expect, test } from "vitest";
import { captionAt } from "./captions.tsx";

describe("the caption", () => {
  const cues = [
    { fromMs: 1000, toMs: 3000, text: "one" },
    { fromMs: 2000, toMs: 2500, text: "two" },
  ];

  test.each([
    [999, ""],
    [1000, "one"],
    [2000, "one\ntwo"],
    [2500, "one"],
    [3000, ""],
  ])("at %d ms it reads %j", (positionMs, text) => {
    expect(captionAt(cues, positionMs)).toBe(text);
  });
});
