import { subject, verb } from "@intermission/server/route-commands";

export const currencyCommands = subject("currency", "the currency of all prices, budgets and charges", {
  show: verb("showCurrency", { description: "show the currency of the amounts in the store" }),
  set: verb("setCurrency", {
    description: "name the currency of all amounts in the store, if it was set wrong; no amount is converted",
    arguments: ["currency"],
    options: { currency: "ISO 4217 code, such as EUR" },
    examples: ["EUR", "EUR --yes"],
    note: ({ currency, running }) =>
      running === currency ? undefined : `Start every node again, with CURRENCY=${currency}.`,
  }),
});
