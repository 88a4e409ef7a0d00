import { z } from "zod";
import { microsOf } from "./amounts.ts";
import { fieldFault } from "./field-forms.ts";

export const billings = ["prepaid", "credit"] as const;

const shape = {
  billing: z.enum(billings).describe("`prepaid`: nothing is shown beyond what was paid in; `credit`: up to the limit."),
  creditLimitMicros: microsOf("budget").nullable().describe("Only on credit; null: without a limit."),
};
export const terms = z.strictObject(shape);
export type Terms = z.output<typeof terms>;

/** Where nothing else is said: nothing is shown that is not paid for. */
export const usualTerms: Terms = { billing: "prepaid", creditLimitMicros: null };

/** What may be spent beyond what was paid in. Null: without a limit. */
export function creditOf({ billing, creditLimitMicros }: Terms): number | null {
  return billing === "prepaid" ? 0 : creditLimitMicros;
}

/** The terms in a request: prepaid where it does not say otherwise. */
export const termsInput = {
  billing: shape.billing.default(usualTerms.billing),
  creditLimitMicros: shape.creditLimitMicros.default(usualTerms.creditLimitMicros),
};

/** A schema of terms with the rule that ties its two fields. */
export function withLimitOnlyOnCredit<Schema extends z.ZodType<Terms>>(schema: Schema): Schema {
  return schema.refine(({ billing, creditLimitMicros }) => billing === "credit" || creditLimitMicros === null, {
    path: ["creditLimitMicros"],
    error: "must not be set for a prepaid advertiser",
    params: fieldFault("NOT_FOR_PREPAID"),
  });
}
