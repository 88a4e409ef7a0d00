import { describe, expect, test } from "vitest";
import { readTypedAmount } from "../src/ui/typed-amount.ts";

describe("an amount is read as the reader's language writes it", () => {
  test.each([
    ["ru", "4,50", 4.5],
    ["ru", "0,002", 0.002],
    ["ru", "1 234,56", 1234.56],
    ["ru", "1\u00a0234\u00a0567,5", 1_234_567.5],
    ["ru", "1\u202f234", 1234],
    ["ru", "1 234.56", 1234.56],
    ["ru", "1 234,567", 1234.567],
    ["ru", "1234,567", 1234.567],
    ["ru", "4.50", 4.5],
    ["ru", " 4,5 ", 4.5],
    ["en", "4.50", 4.5],
    ["en", "1,234.56", 1234.56],
    ["en", "1,234,567", 1_234_567],
    ["en", "1,234,567.5", 1_234_567.5],
  ] as const)("%s: %s", (language, text, amount) => {
    const micros = Math.round(amount * 1e6);
    expect(readTypedAmount(text, { kind: "payment", language })).toEqual({ outcome: "amount", micros });
  });

  test.each([
    ["ru", "1,234", "comma"],
    ["ru", "1,234.56", "digit-groups"],
    ["ru", "1 23,5", "other-form"],
    ["ru", "4,5,0", "other-form"],
    ["ru", "4,50 ₽", "currency"],
    ["ru", "0,0000001", "decimals"],
    ["en", "1,234", "comma"],
    ["en", "4,50", "decimal-comma"],
    ["en", "1.234,56", "digit-groups"],
    ["en", "1 234.56", "digit-groups"],
  ] as const)("%s: %s is refused, as it may mean another amount or is none", (language, text, fault) => {
    expect(readTypedAmount(text, { kind: "payment", language })).toMatchObject({ outcome: "refused", fault });
  });

  test.each(["en", "ru"] as const)("what %s prints with two decimals is read back", (language) => {
    const format = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    for (const cents of [1, 50, 400, 450, 99_999, 100_000, 123_456, 99_999_999, 100_000_000, 12_345_678_901]) {
      const read = readTypedAmount(format.format(cents / 100), { kind: "payment", language });
      expect(read).toEqual({ outcome: "amount", micros: cents * 10_000 });
    }
  });
});
