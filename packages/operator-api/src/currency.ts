import { z } from "zod";
import { grants } from "./access.ts";
import { confirmation } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { currencyCode } from "./standard-codes.ts";

const answer = z.object({
  currency: z.string().describe("Of all prices, budgets and charges in the store."),
  running: z.string().describe("That of the node that answered; it differs until the node is started again."),
});

export const currencyRoutes = {
  showCurrency: {
    method: "GET",
    path: "/currency",
    description: "Returns the currency of all amounts.",
    access: grants.everyRole,
    answer,
  },
  setCurrency: {
    method: "PUT",
    path: "/currency",
    access: grants.owner,
    changes: "deployment",
    description: "Names the currency of all amounts in the store. It converts none: each number stays.",
    query: confirmation,
    body: z.strictObject({ currency: currencyCode }).meta({ examples: [{ currency: "EUR" }] }),
    answer,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
