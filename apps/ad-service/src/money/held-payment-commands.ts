import { amountOf } from "@intermission/operator-api/amounts";
import { list, verb } from "@intermission/server/route-commands";

/** Payments that a provider has reported, and that a person decides about. */
export const heldPaymentVerbs = {
  held: list("listHeldPayments", "payments", {
    description: "reported payments that wait for a decision",
    examples: ["", "--state dismissed"],
    options: { state: { text: "in one state only", usual: "open" }, after: { value: "id" } },
    columns: {
      REPORTED: "reportedAt",
      ADVERTISER: ({ advertiser, advertiserId }) => advertiser ?? advertiserId,
      AMOUNT: ({ amountMicros, currency }) => `${amountOf(amountMicros)} ${currency}`,
      REFERENCE: "reference",
      WHY: "reason",
      "MAY BE": "knownTransactionId",
      ID: "heldId",
    },
  }),
  credit: verb("creditHeldPayment", {
    description: "credit a held payment: it is another one than the recorded one",
  }),
  dismiss: verb("dismissHeldPayment", { description: "settle that a held payment credits nothing" }),
};
