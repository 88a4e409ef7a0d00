import { moneyRoutes } from "@intermission/operator-api/money";
import { defineForm, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

const asShown = "what the reader has seen, and paid";

export const payoutForm = defineForm(moneyRoutes.recordPayout.body, {
  sections: [{ fields: ["reference", "note"] }],
  elsewhere: {
    month: asShown,
    amountMicros: asShown,
    idempotencyKey: "the window makes one, so that a lost answer is recorded once",
  },
});

export const emptyPayout: TypedValues = typedValuesOf(payoutForm, {});
