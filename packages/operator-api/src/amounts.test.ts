import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AmountFault, amountOf, microsOf, readAmount, roundedAmount, roundedParts } from "./amounts.ts";

describe("an amount is read to the millionth", () => {
  test.each([
    ["5000000", 5_000_000_000_000],
    ["0.002", 2000],
    ["0.000001", 1],
    ["12", 12_000_000],
    ["007.50", 7_500_000],
    ["9007199254.740991", Number.MAX_SAFE_INTEGER],
    ["9007199254.75", 9_007_199_254_750_000],
    ["50000000000", 50_000_000_000_000_000],
    ["99999999999.99", 99_999_999_999_990_000],
    ["100000000000", 100_000_000_000_000_000],
  ])("%s", (text, micros) => {
    expect(readAmount(text, "budget")).toEqual({ outcome: "amount", micros });
    expect(String(BigInt(micros))).toBe(
      `${text.replace(/^0+/, "").replace(/\..*/, "")}${(text.split(".")[1] ?? "").padEnd(6, "0")}`.replace(/^0+/, ""),
    );
  });

  test("and a price may be 0", () => {
    expect(readAmount("0", "price")).toEqual({ outcome: "amount", micros: 0 });
  });
});

describe("anything else is refused, with the bounds and how to write it", () => {
  test.each<[string, AmountFault, string]>([
    ["5,000,000", "digit-groups", "write 5000000"],
    ["5 000 000", "digit-groups", "write 5000000"],
    ["5\u00a0000\u00a0000", "digit-groups", "write 5000000"],
    ["5\u202f000", "digit-groups", "write 5000"],
    ["5'000'000", "digit-groups", "write 5000000"],
    ["5_000_000", "digit-groups", "write 5000000"],
    ["5.000.000", "digit-groups", "write 5000000"],
    ["1.234,56", "digit-groups", "write 1234.56"],
    ["1,234.56", "digit-groups", "write 1234.56"],
    ["12,34,567", "digit-groups", "write 1234567"],
    ["5,000", "comma", "write 5000, or 5.000 for a decimal"],
    ["0,05", "decimal-comma", "write 0.05"],
    ["0,005", "decimal-comma", "write 0.005"],
    ["12,5", "decimal-comma", "write 12.5"],
    [".5", "point", "write 0.5"],
    ["5.", "point", "write 5"],
    ["1e3", "exponent", "write 1000"],
    ["2E-3", "exponent", "write 0.002"],
    ["1e30", "exponent", "write all its digits"],
    ["$5", "currency", "write 5"],
    ["5 USD", "currency", "write 5"],
    ["₫5000000", "currency", "write 5000000"],
    ["VND 5000000", "currency", "write 5000000"],
    ["1 234,56", "digit-groups", "write 1234.56"],
    ["1\u00a0234\u00a0567,5", "digit-groups", "write 1234567.5"],
    ["1'234,56", "digit-groups", "write 1234.56"],
    ["€1,234.56", "currency", "write 1234.56"],
    ["€4,50", "currency", "write 4.50"],
    ["1.234,56 €", "currency", "write 1234.56"],
    ["1\u00a0234,56\u00a0₽", "currency", "write 1234.56"],
    ["4,50 руб.", "currency", "write 4.50"],
    ["CHF 1’234.50", "currency", "write 1234.50"],
    ["US$5", "currency", "write 5"],
    ["€1,234", "comma", "write 1234, or 1.234 for a decimal"],
    ["€1.2.3", "currency", "write it without a currency"],
    ["+1,234.56", "sign", "write 1234.56"],
    ["€-5", "sign", "not negative"],
    ["-€5", "sign", "not negative"],
    ["-1,234.56", "sign", "not negative"],
    [",5", "point", "write 0.5"],
    ["5,", "point", "write 5"],
    ["1,234,5", "other-form", "such as 12 or 0.002"],
    ["-", "other-form", "such as 12 or 0.002"],
    ["-5", "sign", "not negative"],
    ["−5", "sign", "not negative"],
    ["+5", "sign", "write 5"],
    ["0.0000001", "decimals", "6 decimals at most"],
    ["0", "too-small", "for no budget write none"],
    ["0.00", "too-small", "from 0.000001 to 100000000000"],
    ["100000000000.01", "too-large", "from 0.000001 to 100000000000"],
    ["9".repeat(30), "too-large", "from 0.000001 to 100000000000"],
    ["9".repeat(5000), "too-large", "from 0.000001 to 100000000000"],
    ["9007199254.740993", "too-fine", "above 9007199254.740991 an amount has 2 decimals at most"],
    ["5k", "other-form", "such as 12 or 0.002"],
    ["0x10", "other-form", "such as 12 or 0.002"],
    ["NaN", "other-form", "such as 12 or 0.002"],
    ["Infinity", "other-form", "such as 12 or 0.002"],
    ["", "other-form", "such as 12 or 0.002"],
    [" 5", "other-form", "such as 12 or 0.002"],
    ["5 5", "other-form", "such as 12 or 0.002"],
    ["٥", "other-form", "such as 12 or 0.002"],
    ["a lot", "other-form", "such as 12 or 0.002"],
  ])("%s", (text, fault, words) => {
    const read = readAmount(text, "budget");
    expect(read).toMatchObject({ outcome: "refused", fault, message: expect.stringContaining(words) });
    expect(read).toMatchObject({ message: expect.stringContaining("from 0.000001 to 100000000000") });
  });

  test("a payment is more than nothing, and none is not advised", () => {
    const read = readAmount("0", "payment");
    const message = "must be an amount from 0.000001 to 100000000000, such as 12 or 0.002: it is more than 0";
    expect(read).toMatchObject({ fault: "zero", message });
    expect(microsOf("payment").safeParse(0).error?.message).toContain("it is more than 0");
  });

  test("prices have bounds of their own", () => {
    expect(readAmount("1000000000.01", "price")).toMatchObject({
      message: "must be an amount from 0 to 1000000000, such as 12 or 0.002",
    });
  });
});

test("each amount within the bounds is written as it is read", () => {
  const fine = fc.bigInt({ min: 1n, max: BigInt(Number.MAX_SAFE_INTEGER) });
  const coarse = fc.bigInt({ min: 1n, max: 10n ** 13n }).map((hundredths) => hundredths * 10_000n);
  fc.assert(
    fc.property(fc.oneof(fine, coarse), (micros) => {
      const read = readAmount(amountOf(micros), "budget");
      return read.outcome === "amount" && BigInt(read.micros) === micros;
    }),
  );
});

test("sums of hundredths are exact in doubles up to the largest budget", () => {
  const hundredths = fc.bigInt({ min: 0n, max: 10n ** 13n });
  fc.assert(
    fc.property(hundredths, hundredths, (one, other) => {
      if (one + other > 10n ** 13n) return true;
      return BigInt(Number(one * 10_000n) + Number(other * 10_000n)) === (one + other) * 10_000n;
    }),
  );
});

test("rounded parts add up to the rounded total, and each is less than a step away from its value", () => {
  const parts = fc.array(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), { maxLength: 40 });
  fc.assert(
    fc.property(parts, fc.integer({ min: 0, max: 6 }), (micros, decimals) => {
      const step = 10n ** BigInt(6 - decimals);
      const steps = (text: string) => BigInt(text.replace(".", ""));
      const shown = roundedParts(micros, decimals).map(steps);
      const total = micros.reduce((sum, part) => sum + part, 0n);
      expect(shown.reduce((sum, part) => sum + part, 0n)).toBe(steps(roundedAmount(total, decimals)));
      for (const [index, part] of micros.entries()) {
        const off = (shown[index] ?? 0n) * step - part;
        expect(off < step && off > -step).toBe(true);
      }
    }),
  );
});
