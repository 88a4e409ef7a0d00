import { expect, test } from "vitest";
import { languageOf } from "./eligibility.ts";

test.each([
  ["pt-BR", "pt"],
  ["ZH_hans", "zh"],
  ["in", "id"],
  ["iw-IL", "he"],
  ["tl", "fil"],
  ["de, en;q=0.5", "de"],
  ["", undefined],
  ["*", undefined],
])("the language of %j is %j, by its current code", (tag, language) => {
  expect(languageOf(tag)).toBe(language);
});
