import { moneyRoutes } from "@intermission/operator-api/money";
import { defineForm, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

const idempotencyKey = "the window makes one, so that a lost answer is recorded once";

/** What an advertiser paid in. */
export const topUpForm = defineForm(moneyRoutes.recordTopUp.body, {
  sections: [{ fields: ["amountMicros", "reference", "note"] }],
  elsewhere: { idempotencyKey },
});

export const correctionForm = defineForm(moneyRoutes.correctAdvertiser.body, {
  sections: [{ fields: ["amountMicros", "direction", "against", "note"] }],
  elsewhere: { idempotencyKey },
});

export const emptyTopUp: TypedValues = typedValuesOf(topUpForm, {});
export const emptyCorrection: TypedValues = typedValuesOf(correctionForm, { direction: "credit", against: "revenue" });
