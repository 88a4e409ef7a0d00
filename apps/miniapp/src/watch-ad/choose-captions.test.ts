import { expect, test } from "vitest";
import { chooseCaptions } from "./choose-captions.ts";

const offered = ["ar", "en-GB", "pt-BR"].map((language) => ({ language, url: `/${language}.vtt` }));

test.each([
  ["pt", "pt-BR"],
  ["ar", "ar"],
  ["hi", "en-GB"],
])("who reads %s is shown %s", (language, shown) => {
  expect(chooseCaptions(offered, language)?.language).toBe(shown);
});

test("without English the first are shown, and without any nothing", () => {
  expect(chooseCaptions([{ language: "tr", url: "/tr.vtt" }], "hi")?.language).toBe("tr");
  expect(chooseCaptions([], "en")).toBeUndefined();
  expect(chooseCaptions(undefined, "en")).toBeUndefined();
});
