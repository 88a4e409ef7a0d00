import { dayOf, daysLater, offsetOf, startOfDay } from "@intermission/operator-api/days-in-zone";
import { daysOf, type ReportAddress, zoneOf } from "@intermission/operator-api/report-address";
import type { MailInterval } from "@intermission/operator-api/saved-reports";

export interface MailTimes {
  every: MailInterval;
  hour: number;
  timeZone: string;
}

const QUARTER_MS = 900_000;
const HOUR_MS = 3_600_000;
/** The next first day of a month is at most this far away. */
const MAX_DAYS = 32;

/** The moment at which a report is due on a day; if the clocks skip the hour, the moment of the change. */
function dueOn(day: string, { hour, timeZone }: MailTimes): Date {
  let at = startOfDay(timeZone, day).getTime();
  const hourShown = () => new Date(at + offsetOf(timeZone, new Date(at))).getUTCHours();
  // The search ends with the day, of at most 25 hours, if its last hour is the skipped one.
  for (const end = at + 25 * HOUR_MS; hourShown() < hour && at < end; ) at += QUARTER_MS;
  return new Date(at);
}

function isDueOn(day: string, every: MailInterval): boolean {
  switch (every) {
    case "day":
      return true;
    case "week":
      return new Date(`${day}T00:00:00Z`).getUTCDay() === 1;
    case "month":
      return day.endsWith("-01");
    default:
      return every satisfies never;
  }
}

export interface DueMail {
  /** The day in the zone. A report has one mail per day. */
  day: string;
  at: Date;
}

/** The first due moment after `now`, on a day after `lastDay`, the last day with a mail. */
export function nextMail(times: MailTimes, now: Date, lastDay = ""): DueMail {
  return search(times, {
    from: dayOf(times.timeZone, now),
    step: 1,
    isFound: ({ at, day }) => at > now && day > lastDay,
  });
}

/** The latest due moment until `now`: after a time without any node, only one mail is sent. */
export function latestMail(times: MailTimes, now: Date): DueMail {
  return search(times, { from: dayOf(times.timeZone, now), step: -1, isFound: ({ at }) => at <= now });
}

/**
 * The moment as of which a mailed report is read: its due time. At the first moment of a day, a range until today ends with the
 * day before, since today has no figures yet.
 */
export function reportedAt(address: ReportAddress, dueAt: Date): Date {
  const endsToday = daysOf(address, dueAt).to === dayOf(zoneOf(address), dueAt);
  return endsToday ? new Date(dueAt.getTime() - 1) : dueAt;
}

function search(
  times: MailTimes,
  { from, step, isFound }: { from: string; step: 1 | -1; isFound: (due: DueMail) => boolean },
): DueMail {
  for (let days = 0; days <= 2 * MAX_DAYS; days += 1) {
    const day = daysLater(from, step * days);
    if (!isDueOn(day, times.every)) continue;
    const due = { day, at: dueOn(day, times) };
    if (isFound(due)) return due;
  }
  throw new Error(`no mail is due near ${from} in ${times.timeZone}`);
}
