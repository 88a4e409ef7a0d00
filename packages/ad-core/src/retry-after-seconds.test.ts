import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { retryAfterSeconds } from "./retry-after-seconds.ts";

const now = new Date("2026-01-02T03:04:05.250Z");
const after = (header: string | undefined) => retryAfterSeconds(header, now);

describe("Retry-After", () => {
  test.each([
    ["0", 0],
    ["5", 5],
    ["007", 7],
    ["99999999", 99_999_999],
    ["Fri, 02 Jan 2026 03:05:05 GMT", 60],
    ["Fri, 02 Jan 2026 03:04:05 GMT", 0],
    ["Fri, 31 Dec 1999 23:59:59 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 251_634_977_754],
    ["Friday, 02-Jan-26 03:05:05 GMT", 60],
    ["Fri Jan  2 03:05:05 2026", 60],
    ["Fri Jan 02 03:05:05 2026", 60],
    ["Thu Dec 31 23:59:60 2026", 31_438_555],
    // A two-digit year more than 50 years ahead belongs to the last century, any other to this one.
    ["Thursday, 02-Jan-75 03:04:05 GMT", 1_546_300_800],
    ["Thursday, 02-Jan-76 03:04:05 GMT", 1_577_836_800],
    ["Friday, 02-Jan-76 03:04:06 GMT", 0],
    ["Friday, 31-Dec-99 23:59:59 GMT", 0],
    [" 5", 5],
    ["5\t ", 5],
    ["\t Fri, 02 Jan 2026 03:05:05 GMT ", 60],
  ])("%j is %i seconds", (header, seconds) => expect(after(header)).toBe(seconds));

  test.each([
    undefined,
    "",
    " ",
    "-1",
    "+5",
    "5.5",
    "5s",
    "1e3",
    "0x10",
    "٥",
    "Infinity",
    "NaN",
    "soon",
    "null",
    "1,2",
    "5, Fri, 02 Jan 2026 03:05:05 GMT",
    "Fri, 99 Foo 2026 03:05:05 GMT",
    "Fri, 02 Jan 2026 99:99:99 GMT",
    "Fri, 02 Jan 2026 03:05:05",
    "Fri, 02 Jan 2026 03:05:05 +0100",
    "Fri, 30 Feb 2026 03:05:05 GMT",
    "Fri, 2 Jan 2026 03:05:05 GMT",
    "fri, 02 jan 2026 03:05:05 gmt",
    "Fri, 02-Jan-26 03:05:05 GMT",
    "Friday, 02-Jan-2026 03:05:05 GMT",
    "Fri Jan 2 03:05:05 2026",
    "Fri Jan  2 03:05:05 2026 GMT",
    "\u00a05",
    "\v5",
    "2026-01-02T03:05:05Z",
    "9".repeat(16),
    "9".repeat(1_000_000),
    "Fri, ".repeat(200_000),
    "\0",
    "5\n",
  ])("junk is ignored: %.40j", (header) => expect(after(header)).toBeUndefined());

  test("any header gives a non-negative whole number of seconds or is ignored", () => {
    const older = fc.stringMatching(/^(Fri|Friday),? \d{2}-Jan-\d{2} \d{2}:\d{2}:\d{2} GMT$/);
    const oldest = fc.stringMatching(/^Fri Jan [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/);
    const nearly = fc.stringMatching(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/);
    const digits = fc.stringMatching(/^[-+]?\d{0,40}$/);
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), digits, nearly, older, oldest),
        fc.date({ noInvalidDate: true }),
        (header, at) => {
          const seconds = retryAfterSeconds(header, at);
          return seconds === undefined || (Number.isSafeInteger(seconds) && seconds >= 0);
        },
      ),
      { numRuns: runsToReachAll(2000) },
    );
  });

  test.each([
    ["the current form", (date: Date) => date.toUTCString()],
    ["the form of RFC 850", rfc850],
    ["the form of asctime", asctime],
  ])("every date that HTTP can express gives its exact wait, in %s", (_form, write) => {
    const seconds = fc.integer({ min: 0, max: 1_500_000_000 });
    const begin = fc.date({ min: new Date("1990-01-01"), max: new Date("2110-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(seconds, begin, (wait, start) => {
        const at = new Date(Math.ceil(start.getTime() / 1000) * 1000);
        return retryAfterSeconds(write(new Date(at.getTime() + wait * 1000)), at) === wait;
      }),
      // 2100 has no such day.
      { numRuns: runsToReachAll(200), examples: [[0, new Date("2000-02-29T00:00:00Z")]] },
    );
  });
});

const dayName = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" });
const twoDigits = (number: number) => String(number).padStart(2, "0");
const timeOf = (date: Date) => date.toISOString().slice(11, 19);
const monthOf = (date: Date) => date.toUTCString().slice(8, 11);

function rfc850(date: Date): string {
  const day = `${twoDigits(date.getUTCDate())}-${monthOf(date)}-${twoDigits(date.getUTCFullYear() % 100)}`;
  return `${dayName.format(date)}, ${day} ${timeOf(date)} GMT`;
}

function asctime(date: Date): string {
  const day = String(date.getUTCDate()).padStart(2, " ");
  return `${dayName.format(date).slice(0, 3)} ${monthOf(date)} ${day} ${timeOf(date)} ${date.getUTCFullYear()}`;
}
