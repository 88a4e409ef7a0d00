import { expect, test } from "vitest";
import { csvOf } from "./csv.ts";

test("a file begins with the mark of UTF-8, and has CR LF, quotes where they are needed, ISO times, and empty cells", () => {
  const rows = [['Shop, "Süd"\nGmbH', 1.5, new Date(0), null, undefined, 9_007_199_254_740_993n]];
  expect(csvOf([["name", "spent", "at", "a", "b", "n"], ...rows])).toBe(
    '\uFEFFname,spent,at,a,b,n\r\n"Shop, ""Süd""\nGmbH",1.5,1970-01-01T00:00:00.000Z,,,9007199254740993\r\n',
  );
});

test.each(["=1+1", "+1", "-cmd", "@cmd", "\tx", "\rx", "\nx", "＝1+1", "＋1", "－1", "＠cmd"])(
  "text that a spreadsheet would run, as %j, is neutral",
  (text) => {
    expect(csvOf([["a"], [text]])).toMatch(/^\uFEFFa\r\n"?'/);
  },
);

test("a negative amount stays a number, also as text with all its digits", () => {
  expect(csvOf([[-1, "-1.50", -2n]])).toBe("\uFEFF-1,-1.50,-2\r\n");
});
