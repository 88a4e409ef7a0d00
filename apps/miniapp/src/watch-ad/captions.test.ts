import { describe, expect, test } from "vitest";
import { captionAt, chooseCaptions } from "./captions.tsx";

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

describe("the choice of captions", () => {
  const offered = ["ar", "en-GB", "pt-BR"].map((language) => ({ language, url: `/${language}.vtt` }));

  test.each([
    ["pt", "pt-BR"],
    ["ar", "ar"],
    ["hi", "en-GB"],
  ])("a viewer with language %s gets %s", (language, shown) => {
    expect(chooseCaptions(offered, language)?.language).toBe(shown);
  });

  test("without English the first captions are chosen; without captions the result is undefined", () => {
    expect(chooseCaptions([{ language: "tr", url: "/tr.vtt" }], "hi")?.language).toBe("tr");
    expect(chooseCaptions([], "en")).toBeUndefined();
    expect(chooseCaptions(undefined, "en")).toBeUndefined();
  });
});
