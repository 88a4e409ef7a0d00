import { expect, test } from "vitest";
import { z } from "zod";
import { readSettings, wholeNumberSetting } from "./settings.ts";
import { readWholeNumber } from "./whole-number.ts";

test.each(["0x10", "1e3", "0b11", "0o7", "5 0", "5\n0", "٥", "Infinity", "NaN", "true", "1.5", "-1", "5s"])(
  "%j is no whole number, for an option as for a setting",
  (text) => {
    expect(readWholeNumber(text, { min: 0 })).toMatchObject({ outcome: "refused" });
    const read = () => readSettings(z.object({ CAP: wholeNumberSetting({ min: 0, max: 1e6 }) }), { CAP: text });
    expect(read).toThrow(/CAP must be a whole number from 0 to 1000000: /);
  },
);

test.each([" 5", "5 ", "5\n"])(
  "blanks around %j are refused in an option, and are none of a setting's value",
  (text) => {
    expect(readWholeNumber(text, { min: 0 })).toMatchObject({ outcome: "refused" });
    const settings = z.object({ CAP: wholeNumberSetting({ min: 0, max: 1e6 }) });
    expect(readSettings(settings, { CAP: text })).toEqual({ CAP: 5 });
  },
);

test.each([
  ["5,000", "write 5000"],
  ["5.000", "write 5000"],
  ["1 234 567", "write 1234567"],
  ["1'000", "write 1000"],
  ["12_500", "write 12500"],
  ["+7", "write 7"],
  ["7.0", "write 7"],
  ["7,5", "it has no decimals"],
  ["-3", "it is not negative"],
  [" 3", "without blanks"],
  ["1e3", "write it in digits"],
  ["0x10", "write it in digits"],
])("the refusal of %j says how to write it: %s", (text, hint) => {
  expect(readWholeNumber(text, { min: 0 })).toMatchObject({ message: expect.stringContaining(hint) });
});

test("the bounds belong to the range, and the refusal names them", () => {
  const bounds = { min: 1, max: 100 };
  expect(readWholeNumber("1", bounds)).toEqual({ outcome: "number", value: 1 });
  expect(readWholeNumber("100", bounds)).toEqual({ outcome: "number", value: 100 });
  for (const text of ["0", "101", "9".repeat(400)]) {
    expect(readWholeNumber(text, bounds)).toEqual({
      outcome: "refused",
      message: "must be a whole number from 1 to 100",
    });
  }
});
