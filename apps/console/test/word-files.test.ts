import { beforeEach, expect, test, vi } from "vitest";
import type { Language } from "../src/words/languages.ts";

type WordFiles = typeof import("../src/words/word-files.ts");

/** What the windows of a browser share. */
const kept = new Map<string, string>();

beforeEach(() => {
  kept.clear();
  vi.stubGlobal("localStorage", { getItem: (name: string) => kept.get(name) ?? null });
  vi.stubGlobal("navigator", { languages: ["en-GB"] });
  return () => vi.unstubAllGlobals();
});

let windows = 0;

/** A window has the module to itself. */
async function openWindow(): Promise<WordFiles> {
  windows += 1;
  const file = `../src/words/word-files.ts?window=${windows}`;
  return import(file);
}

/** Words whose files come when the test says so. */
function filesOf({ addWordFiles }: WordFiles) {
  const there = new Set<Language>();
  const answers = new Map<Language, PromiseWithResolvers<void>>();
  const answer = (language: Language) => {
    const known = answers.get(language) ?? Promise.withResolvers<void>();
    answers.set(language, known);
    return known;
  };
  addWordFiles(async (language) => {
    await answer(language).promise;
    there.add(language);
  });
  return {
    there,
    come: (language: Language) => answer(language).resolve(),
    fail: (language: Language) => {
      answer(language).reject(new TypeError("Failed to fetch"));
      answers.delete(language);
    },
  };
}

test("a window loads the words of the language that it shows, whatever another window has chosen", async () => {
  const window = await openWindow();
  expect(window.shownLanguage()).toBe("en");
  kept.set("console-language", "ru");
  const screen = filesOf(window);
  screen.come("en");
  await window.withWords(Promise.resolve({}));
  expect([...screen.there]).toEqual(["en"]);
  expect((await openWindow()).shownLanguage()).toBe("ru");
});

test("words that cannot be loaded leave the window in its language, and a later try loads them", async () => {
  const window = await openWindow();
  const screen = filesOf(window);
  screen.come("en");
  const change = window.changeLanguage("ru");
  screen.fail("ru");
  await expect(change).rejects.toThrow("Failed to fetch");
  expect(window.shownLanguage()).toBe("en");
  const later = filesOf(window);
  later.come("en");
  await window.withWords(Promise.resolve({}));
  expect([...later.there]).toEqual(["en"]);
  screen.come("ru");
  later.come("ru");
  expect(await window.changeLanguage("ru")).toBe(true);
  expect(window.shownLanguage()).toBe("ru");
});

test("a file that comes while the language changes has its words in both", async () => {
  const window = await openWindow();
  const screen = filesOf(window);
  screen.come("en");
  const change = window.changeLanguage("ru");
  const later = filesOf(window);
  const file = window.withWords(Promise.resolve({}));
  screen.come("ru");
  later.come("en");
  await file;
  expect(window.shownLanguage()).toBe("en");
  later.come("ru");
  expect(await change).toBe(true);
  expect([...later.there].sort()).toEqual(["en", "ru"]);
});

test("of two languages that are chosen one after the other, the last one is shown", async () => {
  const window = await openWindow();
  const screen = filesOf(window);
  const first = window.changeLanguage("ru");
  const last = window.changeLanguage("en");
  screen.come("en");
  expect(await last).toBe(true);
  screen.come("ru");
  expect(await first).toBe(false);
  expect(window.shownLanguage()).toBe("en");
});
