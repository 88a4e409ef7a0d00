import { z } from "zod";
import { forms } from "./field-forms.ts";
import { after, boundedText, listLimit, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

/** How many reports a person can keep. */
export const MAX_SAVED_REPORTS = 50;

const savedReport = z.object({
  savedReportId: z.string(),
  name: z.string(),
  search: z.string().describe("The query of the report's address in the console, without `?`."),
  savedAt: moment,
});
export type SavedReport = z.output<typeof savedReport>;

/** What `URLSearchParams` writes. */
const search = z
  .string()
  .max(2048, "must have at most 2048 characters")
  .regex(forms.REPORT_ADDRESS, "must be the query of an address, as time=day&by=bot");

export const savedReportRoutes = {
  listSavedReports: {
    method: "GET",
    path: "/saved-reports",
    description: "Lists the reports that the person who is signed in has saved, by name.",
    query: z.object({ after, limit: listLimit }),
    answer: z.object({ savedReports: z.array(savedReport), next }),
  },
  saveReport: {
    method: "POST",
    path: "/saved-reports",
    description: "Saves a report of the console under a name, for the person who is signed in.",
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
    description: "Removes an own saved report, and returns it.",
    params: z.object({ savedReportId: z.string().max(64) }),
    answer: savedReport,
  },
} as const satisfies OperatorRoutes;
