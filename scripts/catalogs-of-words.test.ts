import { expect, test } from "vitest";
import { faultsOfCatalogs, type Tree, valueTypes } from "./catalogs-of-words.ts";

const english = {
  bots: { none: "No bot.", count: "{count, plural, one {# bot} other {# bots}}", added: "{name} is added." },
};
const russian = {
  bots: {
    none: "Ботов нет.",
    count: "{count, plural, one {# бот} few {# бота} many {# ботов} other {# бота}}",
    added: "Добавлен {name}.",
  },
};
const code =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: code of a source
  'const botWords = loadWords("bots"); const { none, count, added } = useWords(botWords); const a = words[`${state}Of`];';

function faultsOf(changed: { en?: Tree; ru?: Tree; code?: string }): string[] {
  const trees = new Map<string, Tree>([
    ["en", changed.en ?? english],
    ["ru", changed.ru ?? russian],
  ]);
  return faultsOfCatalogs({ trees, sources: [{ folder: "apps/a", text: changed.code ?? code }], chosen: [] });
}

test("catalogs with the same messages have no fault", () => {
  expect(faultsOf({})).toEqual([]);
});

test.each([
  ["lacks a message", { bots: { ...russian.bots, none: {} } }, "ru.json: bots.none is missing"],
  ["has another one", { bots: { ...russian.bots, other: "Ещё" } }, "ru.json: bots.other is not in en.json"],
  [
    "has a value that English lacks",
    { bots: { ...russian.bots, added: "Добавлен {bot}." } },
    "ru.json: bots.added has the value bot, which the English message does not have",
  ],
  [
    "lacks a plural form",
    { bots: { ...russian.bots, count: "{count, plural, one {# бот} few {# бота} other {# ботов}}" } },
    "ru.json: bots.count has the plural forms few, one, other, and needs few, many, one, other",
  ],
])("a language that %s is refused", (_, ru, fault) => {
  expect(faultsOf({ ru })).toEqual([fault]);
});

test("a message that cannot be read is named", () => {
  const [fault, missing] = faultsOf({ ru: { bots: { ...russian.bots, added: "Добавлен {name" } } });
  expect(fault).toMatch(/^ru\.json: bots\.added: number, plural or select is missing/);
  expect(missing).toBe("ru.json: bots.added is missing");
});

test("a message that no code says is refused, one whose name is put together is said", () => {
  const more = (tree: typeof english) => ({ bots: { ...tree.bots, removed: "-", openOf: "-" } });
  expect(faultsOf({ en: more(english), ru: more(russian) })).toEqual(["en.json: no code says bots.removed"]);
});

test("the types of values are written from the English messages", () => {
  expect(
    valueTypes({
      a: { b: "{name} {count, number} {isMore, select, true {+} other {}} {of, select, x {1} other {2}}" },
    }),
  ).toContain('  "a.b": { name: string | number; count: number; isMore: boolean; of: string };');
});
