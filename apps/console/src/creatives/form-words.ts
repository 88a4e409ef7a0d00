import type { FormWords } from "../forms/form-words.ts";
import type { Language } from "../words/languages.ts";
import { creativeWords } from "./words.ts";

type FieldName = "name" | "legalLine" | "erid" | "kktu" | "adDescription" | "reason" | "url";

export function creativeFormWords(language: Language): FormWords<FieldName> {
  const words = creativeWords[language];
  const { name, legalLine, erid, kktu, adDescription, reason } = words;
  return {
    labels: { name, legalLine, erid, kktu, adDescription, reason, url: words.address },
    hints: {
      name: words.nameHint,
      legalLine: words.legalLineHint,
      erid: words.eridHint,
      kktu: words.kktuHint,
      adDescription: words.adDescriptionHint,
      reason: words.reasonHint,
      url: words.addressHint,
    },
  };
}
