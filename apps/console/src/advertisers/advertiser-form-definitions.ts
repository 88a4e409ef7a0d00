import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { moneyRoutes } from "@intermission/operator-api/money";
import { usualTerms } from "@intermission/operator-api/terms";
import { defineForm, type NameOf, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

/** An advertiser before its first campaign. */
export const newAdvertiserForm = defineForm(advertiserRoutes.addAdvertiser.body, {
  sections: [{ fields: ["name", "billing", "creditLimitMicros"] }],
});

const asRead = "the form sends what it has read";

export const advertiserNameForm = defineForm(advertiserRoutes.updateAdvertiser.body, {
  sections: [{ fields: ["name"] }],
  elsewhere: { "expected/name": asRead },
});

/** Whether an advertiser pays before or after, and up to which limit. */
export const termsForm = defineForm(moneyRoutes.setTerms.body, {
  sections: [{ fields: ["billing", "creditLimitMicros"] }],
  elsewhere: { "expected/billing": asRead, "expected/creditLimitMicros": asRead },
});

export type AdvertiserField = NameOf<typeof newAdvertiserForm>;

export const newAdvertiserValues: TypedValues = typedValuesOf(newAdvertiserForm, usualTerms);

/** The limit is one of credit. */
export function isAdvertiserField(name: string, { billing }: TypedValues): boolean {
  return name !== "creditLimitMicros" || billing === "credit";
}
