import fc from "fast-check";
import { expect, test } from "vitest";
import { payablePart, statementAmounts } from "./currency-units.ts";

test.each([
  ["USD", 8_641_975n, 8_640_000n],
  ["EUR", 9_999n, 0n],
  ["JPY", 8_641_975n, 8_000_000n],
  ["KWD", 8_641_975n, 8_641_000n],
  ["USD", -8_641_975n, 0n],
])("of %s %s micros can be paid %s", (currency, micros, payable) => {
  expect(payablePart(micros, currency)).toBe(payable);
});

test("a statement in yen prints no decimals, one in dinars three", () => {
  const of = (currency: string) =>
    statementAmounts({
      currency,
      openingMicros: 0,
      closingMicros: 8_641_975,
      lines: [{ amountMicros: 10_000_000 }, { amountMicros: -1_358_025 }],
    });
  expect(of("JPY")).toEqual({ opening: "0", closing: "9", lines: ["10", "-1"] });
  expect(of("USD")).toEqual({ opening: "0.00", closing: "8.64", lines: ["10.00", "-1.36"] });
  expect(of("KWD")).toEqual({ opening: "0.000", closing: "8.642", lines: ["10.000", "-1.358"] });
});

const amount = fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n });
test("the lines of any statement add up as they are shown, and each differs by less than one unit", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("USD", "JPY", "KWD"),
      amount,
      fc.array(amount, { maxLength: 30 }),
      (currency, opening, parts) => {
        const closing = opening + parts.reduce((sum, part) => sum + part, 0n);
        const shown = statementAmounts({
          currency,
          openingMicros: opening,
          closingMicros: closing,
          lines: parts.map((amountMicros) => ({ amountMicros })),
        });
        const decimals = { USD: 2, JPY: 0, KWD: 3 }[currency] ?? 0;
        const unitsOf = (text: string) => BigInt(text.replace(".", ""));
        expect(shown.opening).toMatch(decimals === 0 ? /^-?\d+$/ : new RegExp(`^-?\\d+\\.\\d{${decimals}}$`));
        const lines = shown.lines.map(unitsOf);
        expect(unitsOf(shown.opening) + lines.reduce((sum, line) => sum + line, 0n)).toBe(unitsOf(shown.closing));
        const step = 10n ** BigInt(6 - decimals);
        for (const [index, line] of lines.entries()) {
          const difference = line * step - (parts[index] ?? 0n);
          expect(difference > -step && difference < step).toBe(true);
        }
      },
    ),
  );
});
