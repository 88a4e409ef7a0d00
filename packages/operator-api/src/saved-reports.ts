import { z } from "zod";
import { forms } from "./field-forms.ts";
import { after, boundedText, listLimit, moment, next, timeZone } from "./fields.ts";
import { email } from "./people.ts";
import type { OperatorRoutes } from "./route.ts";

/** How many reports a person can keep. */
export const MAX_SAVED_REPORTS = 50;

export const mailIntervals = ["day", "week", "month"] as const;
export type MailInterval = (typeof mailIntervals)[number];

/** Why mails of a report ended without a change in the console. */
export const scheduleEnds = ["unsubscribed", "disabled", "no-right"] as const;
export type ScheduleEnd = (typeof scheduleEnds)[number];

export const reportMailStates = ["waiting", "sending", "sent", "failed", "unknown"] as const;
export type ReportMailState = (typeof reportMailStates)[number];

const mailSchedule = z.strictObject({
  every: z.enum(mailIntervals).describe("Each day, on Mondays, or on the first of a month."),
  hour: z.int("must be a whole hour from 0 to 23").min(0).max(23).describe("From which hour on, in the zone."),
  timeZone,
  hasCsv: z.boolean().default(false).describe("Whether the CSV file is attached, which then leaves this service."),
});

const storedSchedule = mailSchedule.extend({
  nextAt: moment.nullable().describe("Null: it has ended."),
  ended: z.enum(scheduleEnds).nullable(),
  last: z
    .object({ dueAt: moment, state: z.enum(reportMailStates), error: z.string().nullable() })
    .nullable()
    .describe("The latest mail. `unknown`: whether the mail server took it; it is not sent again."),
});
export type MailSchedule = z.output<typeof storedSchedule>;

const savedReport = z.object({
  savedReportId: z.string(),
  name: z.string(),
  search: z.string().describe("The query of the report's address in the console, without `?`."),
  savedAt: moment,
  mails: storedSchedule.nullable().describe("When it is mailed to the person; null: never."),
});
export type SavedReport = z.output<typeof savedReport>;

/** What `URLSearchParams` writes. */
const search = z
  .string()
  .max(2048, "must have at most 2048 characters")
  .regex(forms.REPORT_ADDRESS, "must be the query of an address, as time=day&by=bot");

/** Whose report it is, where the command line asks: it has no session. */
const owner = z.object({
  email: email.optional().describe("Of the person. For the command line alone, which needs it."),
});
const params = z.object({ savedReportId: z.string().max(64) });

export const savedReportRoutes = {
  listSavedReports: {
    method: "GET",
    path: "/saved-reports",
    access: "of-a-person",
    description: "Lists the reports that the person who is signed in has saved, by name.",
    query: owner.extend({ after, limit: listLimit }),
    answer: z.object({
      savedReports: z.array(savedReport),
      canMail: z.boolean().describe("Whether a mail server is set."),
      next,
    }),
  },
  saveReport: {
    method: "POST",
    path: "/saved-reports",
    access: "of-a-person",
    changes: "saved-report",
    description: "Saves a report of the console under a name, for the person who is signed in.",
    query: owner,
    body: z
      .strictObject({ name: boundedText(60), search })
      .meta({ examples: [{ name: "Bots, this week", search: "by=bot&compare=previous" }] }),
    status: 201,
    answer: savedReport,
    refusals: [409],
  },
  removeSavedReport: {
    method: "DELETE",
    path: "/saved-reports/:savedReportId",
    access: "of-a-person",
    changes: "saved-report",
    description: "Removes an own saved report, and returns it.",
    params,
    query: owner,
    answer: savedReport,
  },
  mailSavedReport: {
    method: "PUT",
    path: "/saved-reports/:savedReportId/mails",
    access: "of-a-person",
    changes: "saved-report",
    description:
      "Mails an own saved report each day, week or month: a link for who is signed in, and the CSV file if it is chosen.",
    params,
    query: owner,
    body: mailSchedule.meta({ examples: [{ every: "week", hour: 8, timeZone: "Europe/Berlin" }] }),
    answer: savedReport,
    refusals: [409],
  },
  stopMailingReport: {
    method: "DELETE",
    path: "/saved-reports/:savedReportId/mails",
    access: "of-a-person",
    changes: "saved-report",
    description: "Mails an own saved report no more.",
    params,
    query: owner,
    answer: savedReport,
  },
} as const satisfies OperatorRoutes;
