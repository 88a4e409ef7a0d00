import { expect, test } from "vitest";
import { latestMail, type MailTimes, nextMail } from "./mail-moments.ts";

const at = (text: string) => new Date(text);
const times = (every: MailTimes["every"], hour: number, timeZone = "Europe/Berlin") => ({ every, hour, timeZone });

test("a report is due each day, on Mondays or on the first of a month, at the hour of the zone", () => {
  const now = at("2026-03-10T12:00:00Z"); // A Tuesday.
  expect(nextMail(times("day", 8), now)).toEqual({ day: "2026-03-11", at: at("2026-03-11T07:00:00Z") });
  expect(nextMail(times("day", 14), now)).toEqual({ day: "2026-03-10", at: at("2026-03-10T13:00:00Z") });
  expect(nextMail(times("week", 8), now)).toEqual({ day: "2026-03-16", at: at("2026-03-16T07:00:00Z") });
  expect(nextMail(times("month", 8), now)).toEqual({ day: "2026-04-01", at: at("2026-04-01T06:00:00Z") });
  expect(nextMail(times("day", 0, "Pacific/Kiritimati"), now).day).toBe("2026-03-12");
});

test("an hour that the clocks skip is the moment of the change, and one that comes twice is its first", () => {
  expect(nextMail(times("day", 2), at("2026-03-28T12:00:00Z")).at).toEqual(at("2026-03-29T01:00:00Z"));
  expect(nextMail(times("day", 2), at("2026-10-24T12:00:00Z")).at).toEqual(at("2026-10-25T00:00:00Z"));
  expect(nextMail(times("day", 2), at("2026-10-25T00:00:00Z")).day).toBe("2026-10-26");
});

test("of the moments that passed, the latest is due", () => {
  const now = at("2026-03-10T12:00:00Z");
  expect(latestMail(times("day", 8), now).day).toBe("2026-03-10");
  expect(latestMail(times("day", 14), now).day).toBe("2026-03-09");
  expect(latestMail(times("week", 8), now).day).toBe("2026-03-09");
  expect(latestMail(times("month", 8), now).day).toBe("2026-03-01");
});

test("each moment follows the one before in every zone and at every hour, across a year", { tags: "long" }, () => {
  for (const timeZone of ["UTC", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu"])
    for (const hour of [0, 1, 2, 3, 23]) {
      const days = new Set<string>();
      let now = at("2026-01-01T00:00:00Z");
      for (let count = 0; count < 366; count += 1) {
        const due = nextMail(times("day", hour, timeZone), now);
        expect(latestMail(times("day", hour, timeZone), due.at)).toEqual(due);
        days.add(due.day);
        now = due.at;
      }
      expect(days.size).toBe(366);
    }
});
