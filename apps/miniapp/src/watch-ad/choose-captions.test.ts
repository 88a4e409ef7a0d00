import { expect, test } from "vitest";
import { chooseCaptions } from "./choose-captions.ts";

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
