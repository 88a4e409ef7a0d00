import type { NameOf } from "../forms/form-definition.ts";
import { FormSections } from "../forms/form-sections.tsx";
import type { TypedForm } from "../forms/typed-form.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import type { approvalForm } from "./campaign-form-definition.ts";
import { wordsOfCampaignForm } from "./form-words.ts";
import { campaignReviewWords } from "./words.ts";

/** The fields that an operator sets when it approves a campaign. */
export function ApprovalFields({ form }: { form: TypedForm<NameOf<typeof approvalForm>, never> }) {
  const { priceOfOperator } = useWords(campaignReviewWords);
  const words = wordsOfCampaignForm(useLanguage(), undefined);
  const hints = { ...words.hints, viewPriceMicros: priceOfOperator, clickPriceMicros: priceOfOperator };
  return <FormSections form={form} words={{ labels: words.labels, options: words.options ?? {}, hints }} />;
}
