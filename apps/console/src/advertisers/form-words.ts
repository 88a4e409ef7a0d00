import type { FormWords } from "../forms/form-words.ts";
import type { Language } from "../words/languages.ts";
import { billingWords, hintOfBilling, termsWords } from "../words/terms-words.ts";
import type { AdvertiserField } from "./advertiser-form-definitions.ts";
import { advertiserWords } from "./words.ts";

/** The words of an advertiser's forms. `billing`: what is chosen. */
export function wordsOfAdvertiserForm(language: Language, billing: unknown): FormWords<AdvertiserField> {
  const terms = termsWords[language];
  return {
    labels: { name: advertiserWords[language].name, billing: terms.billing, creditLimitMicros: terms.creditLimit },
    hints: { billing: hintOfBilling(language, billing), creditLimitMicros: terms.creditLimitHint },
    options: { billing: billingWords[language] },
  };
}
