import type { FormWords } from "../forms/form-words.ts";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { billingWords, hintOfBilling, termsWords } from "../words/terms-words.ts";
import { platformWords, priorityWords } from "../words/vocabulary-words.ts";
import type { CampaignField, CampaignSection } from "./campaign-form-definition.ts";

/** The words of a campaign's form that no other form has. */
export const campaignFormWords = loadWords("campaignForm");

/** All words of the form. `billing`: what is chosen for a new advertiser. */
export function wordsOfCampaignForm(language: Language, billing: unknown): FormWords<CampaignField, CampaignSection> {
  const { labels, hints, options, sections } = campaignFormWords[language];
  const terms = termsWords[language];
  return {
    labels: {
      ...labels,
      "newAdvertiser/billing": terms.billing,
      "newAdvertiser/creditLimitMicros": terms.creditLimit,
    },
    hints: {
      ...hints,
      "newAdvertiser/billing": hintOfBilling(language, billing),
      "newAdvertiser/creditLimitMicros": terms.creditLimitHint,
    },
    options: {
      ...options,
      "newAdvertiser/billing": billingWords[language],
      "targeting/platforms": platformWords[language],
      priority: priorityWords[language],
    },
    sections,
  };
}
