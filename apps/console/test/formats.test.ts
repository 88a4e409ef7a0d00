import { expect, test } from "vitest";
import { formatsOf } from "../src/words/formats.ts";

const { money } = formatsOf("en");

test("prices keep their digits, also of a currency whose smallest coin is worth more than a view", () => {
  expect([2000, 80_000, 154_000, -500].map((micros) => money(micros, "USD"))).toEqual([
    "$0.002",
    "$0.08",
    "$0.15",
    "-$0.0005",
  ]);
  expect([400_000, 2_500_000, 12_500_000, 0].map((micros) => money(micros, "JPY"))).toEqual([
    "¥0.4",
    "¥2.5",
    "¥13",
    "¥0",
  ]);
  expect([4000, 250_000].map((micros) => money(micros, "KWD").replace(/\s/, " "))).toEqual(["KWD 0.004", "KWD 0.250"]);
});
