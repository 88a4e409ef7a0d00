import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MomentFault, readMoment } from "./moment.ts";

function isoOf(input: unknown): string {
  const read = readMoment(input);
  return read.outcome === "moment" ? read.moment.toISOString() : read.message;
}

describe("a moment is read as RFC 3339 says, or as the beginning of a day in UTC", () => {
  test.each([
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2028-02-29", "2028-02-29T00:00:00.000Z"],
    ["2000-02-29", "2000-02-29T00:00:00.000Z"],
    ["2026-01-31T08:00:00Z", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31t08:00:00z", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31T08:00Z", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31T08:00:00+00:00", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31T08:00:00-00:00", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31T08:00:00+09:00", "2026-01-30T23:00:00.000Z"],
    ["2026-01-31T08:00:00-03:30", "2026-01-31T11:30:00.000Z"],
    ["2026-01-31T08:00:00.5Z", "2026-01-31T08:00:00.500Z"],
    ["2026-01-31T08:00:00.123456+00:00", "2026-01-31T08:00:00.123Z"],
    ["2026-01-31T08:00:00.123456789Z", "2026-01-31T08:00:00.123Z"],
    ["2026-12-31T23:59:59.999Z", "2026-12-31T23:59:59.999Z"],
  ])("%s", (text, expected) => {
    expect(isoOf(text)).toBe(expected);
  });
});

describe("anything else is refused, with the value, an accepted form and the reason", () => {
  test.each<[unknown, MomentFault, string]>([
    [undefined, "missing", "is needed"],
    ["", "missing", "2026-01-31T08:00:00Z"],
    [1_804_000_000, "unix-time", "Unix time in seconds: write it as 2027-03-02T15:06:40Z"],
    ["1804000000", "unix-time", "Unix time in seconds"],
    [1_804_000_000.25, "unix-time", "Unix time in seconds: write it as 2027-03-02T15:06:40.250Z"],
    [1_804_000_000_000, "unix-time", "Unix time in milliseconds: write it as 2027-03-02T15:06:40Z"],
    ["1804000000000000", "unix-time", "Unix time in microseconds: write it as 2027-03-02T15:06:40Z"],
    [2, "not-text", "not 2"],
    ["2", "other-form", 'not "2"'],
    [Number.NaN, "not-text", "not NaN"],
    [true, "not-text", "not true"],
    [{}, "not-text", "an object"],
    [[], "not-text", "a list"],
    ["2027-02-31", "no-such-day", "2027-02 has 28 days"],
    ["2026-06-31", "no-such-day", "2026-06 has 30 days"],
    ["2100-02-29", "no-such-day", "2100-02 has 28 days"],
    ["2026-02-30T10:00:00Z", "no-such-day", "2026-02 has 28 days"],
    ["2026-00-10", "no-such-day", "months are 01 to 12"],
    ["2026-13-01", "no-such-day", "months are 01 to 12"],
    ["2026-01-00", "no-such-day", "2026-01 has 31 days"],
    ["2026-01-31T24:00:00Z", "no-such-time", "hours are 00 to 23"],
    ["2026-01-31T08:60:00Z", "no-such-time", "minutes are 00 to 59"],
    ["2026-12-31T23:59:60Z", "no-such-time", "leap seconds"],
    ["2026-01-31T08:00:00", "no-offset", "an offset is missing"],
    ["2026-01-31T08:00", "no-offset", "an offset is missing"],
    ["2026-01-31T08:00:00+0900", "offset-form", "such as +09:00"],
    ["2026-01-31T08:00:00+09", "offset-form", "such as +09:00"],
    ["2026-01-31T08:00:00 UTC", "offset-form", "Z for UTC"],
    ["2026-01-31T08:00:00+24:00", "no-such-offset", "00 to 23"],
    ["2026-01-31T08:00:00 00:00", "lost-plus", "%2B"],
    ["2026-01-31 08:00:00+00:00", "blank-for-t", "write T"],
    ["2026-01-31 08:00:00", "blank-for-t", "write T"],
    ["0001-01-01T00:00:00Z", "far-year", "2000 to 2199"],
    ["1970-01-21T21:06:40Z", "far-year", "2000 to 2199"],
    ["9999-12-31", "far-year", "2000 to 2199"],
    ["03/04/2027", "other-form", 'not "03/04/2027"'],
    ["31.01.2027", "other-form", "2026-01-31"],
    ["2027-1-5", "other-form", "2026-01-31"],
    ["20270105", "other-form", "2026-01-31"],
    ["Jan 5, 2027", "other-form", "2026-01-31"],
    ["Tue, 05 Jan 2027 08:00:00 GMT", "other-form", "2026-01-31"],
    [" 2026-01-31", "other-form", "2026-01-31"],
    ["2026-01-31\n", "other-form", "2026-01-31"],
    ["2026-W05-1", "other-form", "2026-01-31"],
    ["+012026-01-31", "other-form", "2026-01-31"],
    ["２０２６-01-31", "other-form", "2026-01-31"],
    ["tomorrow", "other-form", 'not "tomorrow"'],
  ])("%j is %s", (input, fault, words) => {
    expect(readMoment(input)).toMatchObject({ outcome: "refused", fault, message: expect.stringContaining(words) });
  });

  test("long input is named by its beginning only", () => {
    expect(isoOf("9".repeat(5000)).length).toBeLessThan(200);
    expect(isoOf(`2026-01-31T08:00:00.${"1".repeat(5000)}Z`).length).toBeLessThan(200);
  });
});

test("each moment of the accepted years is read back from its ISO text, with any offset", () => {
  const moments = fc.date({
    min: new Date("2000-01-02T00:00:00Z"),
    max: new Date("2199-12-30T00:00:00Z"),
    noInvalidDate: true,
  });
  const offsets = fc.record({ hours: fc.integer({ min: -23, max: 23 }), minutes: fc.integer({ min: 0, max: 59 }) });
  fc.assert(
    fc.property(moments, offsets, (moment, { hours, minutes }) => {
      const two = (number: number) => String(Math.abs(number)).padStart(2, "0");
      const sign = hours < 0 ? -1 : 1;
      const local = new Date(moment.getTime() + (hours * 60 + sign * minutes) * 60_000);
      const text = `${local.toISOString().slice(0, -1)}${sign < 0 ? "-" : "+"}${two(hours)}:${two(minutes)}`;
      return isoOf(text) === moment.toISOString() && isoOf(moment.toISOString()) === moment.toISOString();
    }),
  );
});

test("no text is read as another day than it names", () => {
  const digits = (most: number) => fc.integer({ min: 0, max: most }).map((number) => String(number).padStart(2, "0"));
  fc.assert(
    fc.property(fc.integer({ min: 2000, max: 2199 }), digits(20), digits(40), (year, month, day) => {
      const text = `${year}-${month}-${day}`;
      const read = readMoment(text);
      return read.outcome === "refused" || read.moment.toISOString().startsWith(text);
    }),
  );
});
