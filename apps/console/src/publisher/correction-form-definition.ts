import { publisherMoneyRoutes } from "@intermission/operator-api/publisher-money";
import { defineForm, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

export const publisherCorrectionForm = defineForm(publisherMoneyRoutes.correctPublisher.body, {
  sections: [{ fields: ["amountMicros", "direction", "against", "note"] }],
  elsewhere: { idempotencyKey: "the window makes one, so that a lost answer is recorded once" },
});

export const emptyCorrection: TypedValues = typedValuesOf(publisherCorrectionForm, {
  direction: "credit",
  against: "revenue",
});
