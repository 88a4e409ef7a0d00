import { expect, test } from "vitest";
import { isLatinText, latinText } from "./latin-text.ts";

test.each([
  ["Müller & Söhne", "Mueller + Soehne"],
  ["Łódź 12", "Lodz 12"],
  ["Weiß", "Weiss"],
])("%s keeps its letters as %s", (text, kept) => {
  expect(latinText(text)).toBe(kept);
  expect(isLatinText(text)).toBe(true);
});

// A name that a bank's file cannot hold would make the whole file invalid.
test.each(["!!!", "   ", "Weiß Ж", "東京", "Жук", "ABC 東"])("%s has no name that every bank takes", (text) => {
  expect(isLatinText(text)).toBe(false);
});
