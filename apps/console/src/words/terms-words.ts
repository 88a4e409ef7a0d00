import type { billings } from "@intermission/operator-api/terms";
import { loadWords } from "./catalog.ts";
import type { Language } from "./languages.ts";

/** How an advertiser pays: of its dialogs, and of a campaign that makes one. */
export const termsWords = loadWords("terms");

export const billingWords = loadWords("billings") satisfies Record<Language, Record<(typeof billings)[number], string>>;

/** What a way of billing means, as it is chosen. */
export function hintOfBilling(language: Language, billing: unknown): string {
  return termsWords[language].billingHints[billing === "credit" ? "credit" : "prepaid"];
}
