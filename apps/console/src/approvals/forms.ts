import { moneyRequestRoutes } from "@intermission/operator-api/money-requests";
import { defineForm } from "../forms/form-definition.ts";

export const amountForm = defineForm(moneyRequestRoutes.setApprovalAmount.body, {
  sections: [{ fields: ["aboveMicros"] }],
});

export const refusalForm = defineForm(moneyRequestRoutes.refuseMoneyRequest.body, {
  sections: [{ fields: ["reason"] }],
});
