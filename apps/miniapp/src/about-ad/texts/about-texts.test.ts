import { pageLanguages } from "@intermission/ad-core/page-language";
import { describe, expect, test } from "vitest";
import { en } from "./en.ts";
import { loadAboutTexts } from "./load-about-texts.ts";

describe.each(pageLanguages)("the texts about an ad in %s", (language) => {
  test("are complete, with real apostrophes and quotes, and short enough for the buttons of a narrow phone", async () => {
    const texts = await loadAboutTexts(language);
    expect(Object.keys(texts).sort()).toEqual(Object.keys(en).sort());
    for (const [key, text] of Object.entries(texts)) {
      expect(text, key).toBe(text.trim());
      expect(text, key).not.toMatch(/^$|['"`]|\.\.\./);
      if (key.startsWith("report")) expect([...text].length, `${key} ${text}`).toBeLessThanOrEqual(32);
    }
  });

  test.skipIf(language === "en")("are not English", async () => {
    const texts: Record<string, string> = await loadAboutTexts(language);
    expect(Object.entries(en).filter(([key, text]) => texts[key] === text)).toEqual([]);
  });
});

test("a language without texts is English", async () => {
  expect(await loadAboutTexts("tlh")).toBe(en);
});
