import { directionOf, pageLanguages } from "@intermission/ad-core/page-language";
import { describe, expect, test } from "vitest";
import type { AnyDictionary } from "./dictionary.ts";
import { en } from "./en.ts";
import { formatDuration, formatMoment } from "./format-time.ts";
import { chooseLanguage, type LanguageTag, languages, loadDictionary } from "./languages.ts";
import { createTranslator } from "./translate.ts";

/** For reading: numbers are bound to their units. */
const unbound = (text: string) => text.replaceAll("\u00a0", " ");

describe("choice of the language", () => {
  test.each([
    { preferred: ["ru"], chosen: "ru" },
    { preferred: ["ru-RU", "en"], chosen: "ru" },
    { preferred: ["RU_ru"], chosen: "ru" },
    { preferred: ["pt-br"], chosen: "pt" },
    { preferred: ["tlh", undefined, "ru", "en"], chosen: "ru" },
    { preferred: ["uz-Latn-UZ"], chosen: "uz" },
    { preferred: ["in-ID"], chosen: "id" },
    { preferred: ["in"], chosen: "id" },
    { preferred: ["iw", "zh-hans", "sr-latn", "fa-AF"], chosen: "fa" },
    { preferred: [undefined, null, "", "tlh"], chosen: "en" },
    { preferred: ["constructor", "__proto__"], chosen: "en" },
    { preferred: [], chosen: "en" },
  ])("of $preferred is $chosen", ({ preferred, chosen }) => {
    expect(chooseLanguage(preferred)).toBe(chosen);
  });
});

describe("plurals", () => {
  test.each<[LanguageTag, number, string]>([
    ["en", 1, "1 second left"],
    ["en", 1200, "1,200 seconds left"],
    ["ru", 1, "Осталась 1 секунда"],
    ["ru", 3, "Осталось 3 секунды"],
    ["ru", 11, "Осталось 11 секунд"],
    ["ru", 21, "Осталась 21 секунда"],
    ["uk", 2, "Залишилося 2 секунди"],
    ["uk", 12, "Залишилося 12 секунд"],
    ["uk", 31, "Залишилася 31 секунда"],
    ["es", 1, "Queda 1 segundo"],
    ["es", 15, "Quedan 15 segundos"],
    ["pt", 0, "Falta 0 segundo"],
    ["pt", 15, "Faltam 15 segundos"],
    ["ar", 1, "بقيت ثانية واحدة"],
    ["ar", 2, "بقيت ثانيتان"],
    ["ar", 3, "بقيت 3 ثوانٍ"],
    ["ar", 15, "بقيت 15 ثانية"],
    ["fa", 15, "۱۵ ثانیه مانده"],
    ["hi", 15, "15 सेकंड बाकी"],
    ["id", 1, "Sisa 1 detik"],
    ["tr", 15, "15 saniye kaldı"],
    ["uz", 15, "15 soniya qoldi"],
    ["de", 1, "Noch 1 Sekunde"],
    ["de", 15, "Noch 15 Sekunden"],
    ["fr", 0, "Encore 0 seconde"],
    ["fr", 15, "Encore 15 secondes"],
    ["vi", 15, "Còn 15 giây"],
    ["it", 1, "Manca 1 secondo"],
    ["it", 15, "Mancano 15 secondi"],
  ])("in %s of %i", async (tag, count, expected) => {
    const { text } = createTranslator(tag, await loadDictionary(tag));
    expect(unbound(text("secondsLeft", { count }))).toBe(expected);
  });
});

describe("texts", () => {
  test("values are separate parts of a text", () => {
    expect(createTranslator("en", en).parts("offer.from", { bot: "بوت" })).toEqual([
      { kind: "text", text: "Reward from " },
      { kind: "value", text: "بوت" },
    ]);
  });

  test("a placeholder inside a value is not replaced", () => {
    expect(createTranslator("en", en).text("offer.from", { bot: "{bot} $& <b>" })).toBe("Reward from {bot} $& <b>");
  });

  test("an unknown reason from a newer service has an empty text and does not throw", () => {
    const { text } = createTranslator("en", en);
    const unknown = "refused.of-the-future" as "refused.test";
    expect(text(unknown)).toBe("");
  });
});

describe("amounts", () => {
  test("a place in a channel has no number, in words of the language or, without any, in English", async () => {
    const unit = { en: { whole: "a place in Garden", other: "x" }, ar: { whole: "مكان في Garden", other: "x" } };
    for (const [tag, words] of [
      ["en", unit.en.whole],
      ["de", unit.en.whole],
      ["ar", unit.ar.whole],
    ] as const) {
      const { amount, gain, gainText } = createTranslator(tag, await loadDictionary(tag));
      const place = { amount: 1, unit };
      expect([amount(place), gain(place).join(""), gainText(place).replace(/[\u2066\u2069]/g, "")]).toEqual([
        words,
        words,
        words,
      ]);
    }
  });

  const coins = {
    en: { one: "coin", other: "coins" },
    ru: { one: "монета", few: "монеты", many: "монет", other: "монеты" },
    ar: { zero: "عملة", one: "عملة", two: "عملتان", few: "عملات", many: "عملة", other: "عملة" },
    fa: { one: "سکه", other: "سکه" },
  };
  test.each<[LanguageTag, number, string, string]>([
    ["en", 1, "1 coin", "+1 coin"],
    ["en", 1200, "1,200 coins", "+1,200 coins"],
    ["ru", 3, "3 монеты", "+3 монеты"],
    ["ar", 1, "1 عملة", "+1 عملة"],
    ["ar", 2, "عملتان", "+2 عملة"],
    ["ar", 10, "10 عملات", "+10 عملات"],
    ["fa", 10, "۱۰ سکه", "+۱۰ سکه"],
    ["vi", 10, "10 coins", "+10 coins"],
  ])("in %s of %i", async (tag, amount, named, gained) => {
    const { amount: format, gain, gainText } = createTranslator(tag, await loadDictionary(tag));
    expect(format({ amount, unit: coins })).toBe(named.replace(" ", "\u00a0"));
    expect(gain({ amount, unit: coins }).join("")).toBe(gained.replace(" ", "\u00a0"));
    expect(gainText({ amount, unit: coins }).replace(/[\u2066\u2069]/g, "")).toBe(gained.replace(" ", "\u00a0"));
  });

  test("have their sign before the number in a text from right to left", async () => {
    for (const tag of ["ar", "fa"] as const) {
      const { gainText } = createTranslator(tag, await loadDictionary(tag));
      expect(gainText({ amount: 7, unit: coins }), tag).toMatch(/^\u2066\+[7٧۷]\u2069\u00a0/);
    }
  });

  test("have no invisible marks of direction, which would turn the order of number and unit", () => {
    for (const tag of [...pageLanguages, "he", "ur", "ar-EG"]) {
      const { amount: format, gain } = createTranslator(tag, en);
      expect(format({ amount: 1234.5 }) + gain({ amount: 1234.5 }), tag).not.toMatch(/[\u061c\u200e\u200f]/);
    }
  });
});

test("two languages are written from right to left", () => {
  const fromRight = pageLanguages.filter((tag) => directionOf(tag) === "rtl");
  expect(fromRight).toEqual(["ar", "fa"]);
});

describe.each(Object.keys(languages) as LanguageTag[])("the dictionary of %s", (tag) => {
  const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
  const forms = (entry: AnyDictionary[keyof AnyDictionary]) =>
    typeof entry === "string" ? { other: entry } : { ...entry };
  const plurals = new Intl.PluralRules(tag);
  const keys = Object.keys(en) as (keyof typeof en)[];

  /** A form for a single number may omit the number: "two seconds" is one word in Arabic. */
  const isOfOneNumber = (category: string) =>
    Array.from({ length: 200 }, (_, number) => plurals.select(number)).filter((each) => each === category).length === 1;

  test("has exactly the English keys, no empty text, and the same placeholders as English", async () => {
    const dictionary: AnyDictionary = await loadDictionary(tag);
    expect(Object.keys(dictionary).sort()).toEqual(keys.toSorted());
    for (const key of keys) {
      const expected = names(forms(en[key]).other ?? "");
      for (const [category, form] of Object.entries(forms(dictionary[key]))) {
        expect(form, key).toBe(form.trim());
        expect(form, key).not.toBe("");
        const found = names(form);
        if (found.length > 0 || !isOfOneNumber(category)) expect(found, `${key} ${form}`).toEqual(expected);
      }
    }
  });

  test("ends no line between a number and what it counts", async () => {
    const { text, amount, gainText } = createTranslator(tag, await loadDictionary(tag));
    const reward = { amount: 10, unit: { en: { other: "coins" } } };
    const counted = { count: 15, reward: amount(reward) };
    const shown = [
      ...(["seconds", "secondsLeft", "leave.text", "player.rewardIn"] as const).map((key) => text(key, { count: 15 })),
      ...(["offer.named", "player.namedIn"] as const).map((key) => text(key, counted)),
      gainText(reward),
      ...[15_000, 299_000, 36_300_000].map((ms) => formatDuration(ms, tag)),
      formatMoment(new Date(2030, 4, 1, 21, 5), new Date(2030, 4, 1), tag),
      formatMoment(new Date(2030, 4, 1, 21, 5), new Date(2030, 4, 2), tag),
    ];
    expect(shown.filter((each) => /\p{Nd}[\u2066\u2069]? /u.test(each))).toEqual([]);
    expect(shown.join()).toMatch(/\p{Nd}\u2069?\u00a0/u);
  });

  test("has a form for each plural category of its language", async () => {
    const dictionary: AnyDictionary = await loadDictionary(tag);
    const categories = plurals.resolvedOptions().pluralCategories.toSorted();
    for (const key of keys) {
      if (typeof en[key] !== "string") expect(Object.keys(forms(dictionary[key])).sort(), key).toEqual(categories);
    }
  });

  test.skipIf(tag === "en")("has no text left in English", async () => {
    const dictionary: AnyDictionary = await loadDictionary(tag);
    expect(keys.filter((key) => forms(dictionary[key]).other === forms(en[key]).other)).toEqual([]);
  });

  test("renders each plural form of each text, with its number or a word for it", async () => {
    const { text } = createTranslator(tag, await loadDictionary(tag));
    const numbers = new Intl.NumberFormat(tag);
    for (let count = 0; count <= 120; count++) {
      for (const key of ["seconds", "secondsLeft", "leave.text"] as const) {
        const shown = text(key, { count });
        if (!shown.includes(numbers.format(count))) expect([1, 2], `${key} ${shown}`).toContain(count);
        expect(shown, key).not.toMatch(/[{}]/);
      }
    }
  });

  test("has buttons that fit on the narrowest phone", async () => {
    const dictionary: AnyDictionary = await loadDictionary(tag);
    const buttons = keys.filter((key) => key.startsWith("action.") || /^leave\.(resume|confirm)$/.test(key));
    expect(buttons.filter((key) => [...String(dictionary[key])].length > 32)).toEqual([]);
  });

  test("uses one word for the ad and one for the reward", async () => {
    const others = /ролик|винагород|پاداش|آگهی|دعاية/i;
    const texts = Object.values<AnyDictionary[keyof AnyDictionary]>(await loadDictionary(tag));
    expect(texts.flatMap((entry) => Object.values(forms(entry))).filter((text) => others.test(text))).toEqual([]);
  });

  test("uses real apostrophes, quotes and ellipses", async () => {
    const texts = Object.values<AnyDictionary[keyof AnyDictionary]>(await loadDictionary(tag)).flatMap((entry) =>
      Object.values(forms(entry)),
    );
    expect(texts.filter((text) => /['"`]|\.\.\./.test(text))).toEqual([]);
  });
});

// Units have words for numbers and none for cases.
test.each<LanguageTag>(["ru", "uk", "ar", "de", "uz"])(
  "in %s a reward follows a colon, where it needs no case",
  async (tag) => {
    const { parts } = createTranslator(tag, await loadDictionary(tag));
    for (const key of ["offer.named", "watched.named", "leave.named"] as const) {
      const [reward, before] = parts(key, { count: 15, reward: "REWARD" }).toReversed();
      expect(reward?.text, key).toBe("REWARD");
      expect(before?.text, key).toMatch(/: $/);
    }
  },
);

describe("times", () => {
  test.each([
    [0, "en", "0 seconds"],
    [-5, "en", "0 seconds"],
    [900, "en", "1 second"],
    [60_000, "en", "1 minute"],
    [299_000, "en", "4 minutes, 59 seconds"],
    [3_900_000, "en", "1 hour, 5 minutes"],
    [36_299_001, "en", "10 hours, 5 minutes"],
    [7_199_000, "en", "2 hours"],
    [299_000, "ru", "4 минуты 59 секунд"],
    [120_000, "ar", "دقيقتان"],
    [3_900_000, "fa", "۱ ساعت،\u200f ۵ دقیقه"],
  ])("%i ms in %s are %s", (milliseconds, language, expected) => {
    expect(unbound(formatDuration(milliseconds, language))).toBe(expected);
  });

  test("durations have no digits in the form of a clock in any language", () => {
    for (const language of Object.keys(languages)) {
      for (const ms of [1000, 61_000, 3_599_000, 36_300_000]) {
        expect(formatDuration(ms, language), language).not.toMatch(/\d:\d|[٠-٩۰-۹]:/);
      }
    }
  });

  test("times of today have no date; older ones have one", () => {
    const now = new Date(2030, 4, 2, 12, 0);
    expect(formatMoment(new Date(2030, 4, 2, 9, 5), now, "ru")).toBe("09:05");
    expect(formatMoment(new Date(2030, 4, 1, 9, 5), now, "ru")).toMatch(/1\u00a0мая.*9:05/);
    expect(formatMoment(new Date(2030, 4, 2, 9, 5), now, "fa")).toBe("۹:۰۵");
  });
});
