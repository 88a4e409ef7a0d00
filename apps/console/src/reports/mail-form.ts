import { type MailSchedule, savedReportRoutes } from "@intermission/operator-api/saved-reports";
import { defineForm, type NameOf, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

/** When a saved report is mailed. */
export const mailForm = defineForm(savedReportRoutes.mailSavedReport.body, {
  sections: [{ fields: ["every", "hour", "timeZone", "hasCsv"] }],
});
export type MailField = NameOf<typeof mailForm>;

export function mailValues(mails: MailSchedule | null): TypedValues {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const { hasCsv, ...times } = mails ?? { every: "day", hour: 8, timeZone, hasCsv: false };
  // A box, which is either checked or not.
  return { ...typedValuesOf(mailForm, times), hasCsv };
}
