import { expect, test } from "vitest";
import { readReport } from "./read-report.ts";

const columns = { day: "date", impressions: "impressions", amount: "revenue" };
const read = (text: string, change: Partial<typeof columns> = {}) => readReport(text, { ...columns, ...change });
const day = (date: string, impressions: number | null, amountMicros: number) => ({
  day: date,
  impressions,
  amountMicros,
});

test.each([
  ["commas", "date,impressions,revenue\n2026-03-01,1000,1.25\n"],
  ["semicolons, a byte order mark, CRLF", "\uFEFFDate;Impressions;Revenue\r\n2026-03-01;1000;1.25\r\n\r\n"],
  ["tabs, other columns", "country\trevenue\tdate\timpressions\nDE\t1.25\t2026-03-01 00:00:00\t1000"],
  ["quotes", 'date,"impressions","revenue"\n"2026-03-01","1000","1.25"'],
  ["two rows of a day", "date,impressions,revenue\n2026-03-01,400,1\n2026-03-01,600,0.25"],
])("a file with %s is read", (_name, text) => {
  expect(read(text)).toEqual({ outcome: "days", days: [day("2026-03-01", 1000, 1_250_000)] });
});

test("columns have the names that the operator gives, and impressions may be missing", () => {
  const text = 'Day,"Earned, net"\n2026-03-02,-0.5\n2026-03-01,0.0000019';
  expect(read(text, { day: "day", amount: "Earned, net" })).toEqual({
    outcome: "days",
    days: [day("2026-03-01", null, 1), day("2026-03-02", null, -500_000)],
  });
});

test.each([
  ["", "REPORT_EMPTY", "no rows"],
  ["date,revenue", "REPORT_EMPTY", "no rows"],
  ["day,revenue\n2026-03-01,1", "REPORT_COLUMN", "no column date; its heads are: day, revenue"],
  ["date,impressions\n2026-03-01,1", "REPORT_COLUMN", "no column revenue"],
  ["date,revenue\n2026-03-01,1\n01.03.2026,1", "REPORT_CELL", 'row 3, column date, what cannot be read: "01.03.2026"'],
  ["date,revenue\n2026-02-30,1", "REPORT_CELL", 'row 2, column date, what cannot be read: "2026-02-30"'],
  ["date,revenue\n2026-03-01,$1", "REPORT_CELL", '"$1"; amounts are written as 12.34'],
  ["date,revenue\n2026-03-01", "REPORT_CELL", 'column revenue, what cannot be read: ""'],
  ["date,revenue\n2026-03-01,999999999999", "REPORT_CELL", "999999999999"],
  ["date,impressions,revenue\n2026-03-01,1.5,1", "REPORT_CELL", 'column impressions, what cannot be read: "1.5"'],
  ["\0".repeat(10), "REPORT_EMPTY", "no rows"],
])("the fault of %j is named with its row", (text, code, message) => {
  expect(read(text)).toMatchObject({ outcome: "refused", fault: { code }, message: expect.stringContaining(message) });
});
