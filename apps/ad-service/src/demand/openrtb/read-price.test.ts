import fc from "fast-check";
import { expect, test } from "vitest";
import { decimalText, priceOfOne, readPrice } from "./read-price.ts";

const prices: [text: string | undefined, cpmMicros: number][] = [
  ["1", 1_000_000],
  ["1.25", 1_250_000],
  ["0.1", 100_000],
  ["0.000001", 1],
  ["2.0000019", 2_000_001],
  ["1e1", 10_000_000],
  ["1.5E-3", 1500],
  ["12e+0", 12_000_000],
  [" 3.5 ", 3_500_000],
  ["1000000", 1_000_000_000_000],
  // As a double, 0.3 times a million is 299999.99…
  ["0.3", 300_000],
  ["4.35", 4_350_000],
];
test.each(prices)("the price %s is %d micros for 1,000 impressions", (text, cpmMicros) => {
  expect(readPrice(text)).toEqual({ outcome: "price", cpmMicros });
});

const none = [
  undefined,
  "",
  "0",
  "0.0",
  "0.0000001",
  "-1",
  "1,5",
  "1.",
  ".5",
  "NaN",
  "Infinity",
  "0x10",
  "1e",
  "1e-300",
  "1 2",
];
test.each(none)("%s is no price", (text) => {
  expect(readPrice(text)).toEqual({ outcome: "no-price" });
});

test.each(["1000000.000001", "1e7", "9".repeat(30), "1e300"])("%s is an implausible price", (text) => {
  expect(readPrice(text)).toEqual({ outcome: "implausible-price" });
});

test("every price of at most six decimals is read to the micro, and written as it was", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e12 }), (micros) => {
      const text = decimalText(micros);
      expect(readPrice(text)).toEqual({ outcome: "price", cpmMicros: micros });
      expect(text).not.toMatch(/e|\.$|\.\d*0$/);
      expect(BigInt(priceOfOne(micros))).toBe(BigInt(micros) / 1000n);
    }),
  );
});

test("whatever text stands for a price has one outcome, and a price is a whole number of micros within its bounds", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.double().map(String), fc.stringMatching(/^\d{1,20}(\.\d{1,20})?(e-?\d{1,3})?$/)),
      (text) => {
        const read = readPrice(text);
        if (read.outcome !== "price") return;
        expect(Number.isSafeInteger(read.cpmMicros)).toBe(true);
        expect(read.cpmMicros).toBeGreaterThan(0);
        expect(read.cpmMicros).toBeLessThanOrEqual(1e12);
      },
    ),
  );
});
