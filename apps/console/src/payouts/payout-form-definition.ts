import { payoutRunRoutes } from "@intermission/operator-api/payout-runs";
import { publisherMoneyRoutes } from "@intermission/operator-api/publisher-money";
import { defineForm, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

const asShown = "what the reader has seen, and paid";
const elsewhere = {
  month: asShown,
  amountMicros: asShown,
  idempotencyKey: "the window makes one, so that a lost answer is recorded once",
};

export const payoutForm = defineForm(publisherMoneyRoutes.recordPayout.body, {
  sections: [{ fields: ["reference", "note"] }],
  elsewhere,
});

export const payAllForm = defineForm(payoutRunRoutes.payAll.body, { sections: [{ fields: ["reference"] }], elsewhere });

export const emptyPayout: TypedValues = typedValuesOf(payoutForm, {});
export const emptyRun: TypedValues = typedValuesOf(payAllForm, {});
