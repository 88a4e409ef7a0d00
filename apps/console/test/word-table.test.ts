import { expect, test } from "vitest";
import { overviewWords } from "../src/overview/words.ts";

test("numbers in sentences are written as the reader's language writes them", () => {
  const held = { count: 1_234_567, isMore: true };
  expect(overviewWords.en.heldViews(held)).toBe("More than 1,234,567 held views wait for a decision.");
  // The blanks are no-break spaces.
  expect(overviewWords.ru.heldViews(held)).toBe("Задержанные просмотры ждут решения: более 1\u00a0234\u00a0567.");
  expect(overviewWords.ru.heldClicks(held)).toBe("Задержанные клики ждут решения: более 1\u00a0234\u00a0567.");
  expect(overviewWords.ru.noFills({ count: 12_345, share: "3 %" })).toContain("12\u00a0345 (3 %)");
});
