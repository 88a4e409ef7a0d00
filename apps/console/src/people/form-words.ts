import type { FormWords } from "../forms/form-words.ts";
import type { Language } from "../words/languages.ts";
import { roleWords } from "../words/role-words.ts";
import type { PersonField } from "./person-form-definitions.ts";
import { peopleWords } from "./words.ts";

export function personFormWords(language: Language): FormWords<PersonField> {
  const { email, role, advertiser, advertiserHint, bots, botsHint } = peopleWords[language];
  return {
    labels: { email, role, advertiser, botIds: bots },
    hints: { advertiser: advertiserHint, botIds: botsHint },
    options: { role: roleWords[language] },
  };
}
