import { expect, test } from "vitest";
import { durationMsOf, numberOf } from "./vast-ad.ts";

test.each([
  ["00:00:10", 10_000],
  ["00:00:10.5", 10_500],
  ["00:02:59.999", 179_999],
  ["01:00:00", 3_600_000],
  ["0:0:20", 20_000],
  ["00:00:00", 0],
  ["15", 15_000],
  ["12.25", 12_250],
  ["00:00:60", 60_000],
  ["00:00:90.5", 90_500],
  ["00:60:00", 3_600_000],
  ["00:99:99", 6_039_000],
  ["100:00:00", 360_000_000],
  ["0:15", 15_000],
  ["00:10", 10_000],
  ["00:00:10,5", 10_500],
])("%s is %i ms", (text, milliseconds) => expect(durationMsOf(text)).toBe(milliseconds));

test.each([
  "-00:00:10",
  "00:00:-10",
  "00:-01:10",
  "-10",
  "00:00:10.",
  ":10",
  "00:00:00:10",
  "15s",
  "PT15S",
  "00:00:10.-5",
  "0x10",
  "1e1",
  "1e400",
  "NaN",
  "Infinity",
  "soon",
  "",
  "٠٠:٠٠:١٠",
  "9".repeat(100_000),
])("%.20s is not a duration", (text) => expect(durationMsOf(text)).toBeUndefined());

test.each([
  ["640", 640],
  [" 640px", 640],
  ["640.5", 640],
  ["-640", 0],
  ["NaN", 0],
  ["99999999999", 0],
  ["10000000", 0],
  [undefined, 0],
])("%s as a count of pixels is read as %i", (text, number) => expect(numberOf(text)).toBe(number));
