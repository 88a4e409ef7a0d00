import { pageLanguages } from "@intermission/ad-core/page-language";
import { describe, expect, test } from "vitest";
import { en } from "./en.ts";
import { loadTaskTexts } from "./load-task-texts.ts";

const placesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();

describe.each(pageLanguages)("the texts of tasks in %s", (language) => {
  test("are complete, with real apostrophes and quotes, the same values, and all forms of days", async () => {
    const { stay, ...texts } = await loadTaskTexts(language);
    const { stay: _stay, ...english } = en;
    expect(Object.keys(texts).sort()).toEqual(Object.keys(english).sort());
    for (const [key, text] of Object.entries(texts)) {
      expect(text, key).toBe(text.trim());
      expect(text, key).not.toMatch(/^$|['"`]|\.\.\./);
      expect(placesIn(text), key).toEqual(placesIn(english[key as keyof typeof english]));
    }
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    expect(Object.keys(stay).sort()).toEqual([...pluralCategories].sort());
  });

  test.skipIf(language === "en")("are not English", async () => {
    const texts: Record<string, unknown> = await loadTaskTexts(language);
    expect(Object.entries(en).filter(([key, text]) => texts[key] === text)).toEqual([]);
  });
});
