import { expect, test } from "vitest";
import { csvOf } from "../src/ui/csv.ts";

test("a CSV file has CR LF, quotes where they are needed, ISO times, and empty cells for what is absent", () => {
  const rows = [['Shop, "Süd"\nGmbH', 1.5, new Date(0), null, undefined]];
  expect(csvOf(["name", "spent", "at", "a", "b"], rows)).toBe(
    'name,spent,at,a,b\r\n"Shop, ""Süd""\nGmbH",1.5,1970-01-01T00:00:00.000Z,,\r\n',
  );
});

test.each(["=1+1", "+1", "-1", "@cmd", "\tx", "\rx"])(
  "text that a spreadsheet would run, as %j, is neutral",
  (text) => {
    expect(csvOf(["a"], [[text]])).toMatch(/^a\r\n"?'/);
  },
);

test("a negative number stays a number", () => {
  expect(csvOf(["a"], [[-1]])).toBe("a\r\n-1\r\n");
});
