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
    "Friday, 02-Jan-26 03:05:05 GMT",
    "2026-01-02T03:05:05Z",
    "9".repeat(16),
    "9".repeat(1_000_000),
    "Fri, ".repeat(200_000),
    "\0",
    "5\n",
  ])("junk is ignored: %.40j", (header) => expect(after(header)).toBeUndefined());

  test("whatever an endpoint sends is a whole number of seconds, not negative, or ignored", () => {
    const nearly = fc.stringMatching(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/);
    const digits = fc.stringMatching(/^[-+]?\d{0,40}$/);
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), digits, nearly),
        fc.date({ noInvalidDate: true }),
        (header, at) => {
          const seconds = retryAfterSeconds(header, at);
          return seconds === undefined || (Number.isSafeInteger(seconds) && seconds >= 0);
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("any second that HTTP can name is waited for", () => {
    const seconds = fc.integer({ min: 0, max: 100_000_000 });
    fc.assert(
      fc.property(seconds, (wait) => {
        const at = new Date(Math.ceil(now.getTime() / 1000) * 1000);
        return retryAfterSeconds(new Date(at.getTime() + wait * 1000).toUTCString(), at) === wait;
      }),
    );
  });
});
