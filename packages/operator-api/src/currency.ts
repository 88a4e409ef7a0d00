import { z } from "zod";
import { forms } from "./field-forms.ts";
import { confirmation } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const answer = z.object({
  currency: z.string().describe("Of all prices, budgets and charges in the store."),
  running: z.string().describe("That of the node that answered; it differs until the node is started again."),
});

export const currencyRoutes = {
  showCurrency: { method: "GET", path: "/currency", description: "Returns the currency of all amounts.", answer },
  setCurrency: {
    method: "PUT",
    path: "/currency",
    description: "Names the currency of all amounts in the store. It converts none: each number stays.",
    query: confirmation,
    body: z
      .strictObject({
        currency: z.string().regex(forms.CURRENCY_CODE, "must be an ISO 4217 currency code such as EUR"),
      })
      .meta({ examples: [{ currency: "EUR" }] }),
    answer,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
