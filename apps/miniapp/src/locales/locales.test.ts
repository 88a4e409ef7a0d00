import { describe, expect, test } from "vitest";
import { chooseLanguage } from "./choose-language.ts";
import type { AnyDictionary } from "./dictionary.ts";
import { en } from "./en.ts";
import { formatWait } from "./format-wait.ts";
import { type LanguageTag, languages } from "./languages.ts";
import { ru } from "./ru.ts";
import { createTranslator } from "./translate.ts";

describe("choice of the language", () => {
  test.each([
    { wishes: ["ru"], chosen: "ru" },
    { wishes: ["ru-RU", "en"], chosen: "ru" },
    { wishes: ["RU_ru"], chosen: "ru" },
    { wishes: ["de", undefined, "ru", "en"], chosen: "ru" },
    { wishes: [undefined, null, "", "tlh"], chosen: "en" },
    { wishes: ["constructor", "__proto__"], chosen: "en" },
    { wishes: [], chosen: "en" },
  ])("of $wishes is $chosen", ({ wishes, chosen }) => {
    expect(chooseLanguage(wishes)).toBe(chosen);
  });
});

describe("plurals", () => {
  test.each([
    [1, "Осталась 1 секунда"],
    [3, "Осталось 3 секунды"],
    [5, "Осталось 5 секунд"],
    [11, "Осталось 11 секунд"],
    [21, "Осталась 21 секунда"],
    [102, "Осталось 102 секунды"],
  ])("of %i in Russian", (count, told) => {
    expect(createTranslator("ru", ru).text("secondsLeft", { count })).toBe(told);
  });

  test("in English, with the numbers of the language", () => {
    const { text } = createTranslator("en", en);
    expect(text("seconds", { count: 1 })).toBe("1 second");
    expect(text("seconds", { count: 1200 })).toBe("1,200 seconds");
  });
});

describe("texts", () => {
  test("values stand apart from the words around them", () => {
    expect(createTranslator("en", en).parts("offer.from", { bot: "بوت" })).toEqual([
      { kind: "text", text: "Reward from " },
      { kind: "value", text: "بوت" },
    ]);
  });

  test("what looks like a name in a value is not filled in again", () => {
    expect(createTranslator("en", en).text("offer.from", { bot: "{bot} $& <b>" })).toBe("Reward from {bot} $& <b>");
  });

  test("a reason that a newer service invents has no text, and breaks nothing", () => {
    const { text } = createTranslator("en", en);
    const unknown = "refused.of-the-future" as "refused.test";
    expect(text(unknown)).toBe("");
  });
});

describe.each(Object.keys(languages) as LanguageTag[])("the dictionary of %s", (tag) => {
  const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
  const forms = (entry: AnyDictionary[keyof AnyDictionary]) =>
    typeof entry === "string" ? [entry] : Object.values(entry);

  test("has every text, none empty, each with the values of the English one", async () => {
    const dictionary: AnyDictionary = await languages[tag].load();
    expect(Object.keys(dictionary).sort()).toEqual(Object.keys(en).sort());
    for (const key of Object.keys(en) as (keyof typeof en)[]) {
      const expected = names(forms(en[key]).at(-1) ?? "");
      for (const form of forms(dictionary[key])) {
        expect(form.trim()).not.toBe("");
        expect(names(form)).toEqual(expected);
      }
    }
  });

  test("has a form for each plural of its language", async () => {
    const dictionary = await languages[tag].load();
    const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    expect(Object.keys(dictionary.secondsLeft).sort()).toEqual([...categories].sort());
  });
});

test.each([
  [0, "0:00"],
  [-5, "0:00"],
  [900, "0:01"],
  [75_000, "1:15"],
  [3_900_000, "1:05:00"],
])("a wait of %i ms reads %s", (milliseconds, told) => {
  expect(formatWait(milliseconds)).toBe(told);
});
