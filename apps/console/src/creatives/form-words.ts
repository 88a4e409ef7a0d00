import type { FormWords } from "../forms/form-words.ts";
import type { Language } from "../words/languages.ts";
import { creativeWords } from "./words.ts";

export function creativeFormWords(language: Language): FormWords<"name" | "legalLine" | "erid" | "reason" | "url"> {
  const { name, nameHint, legalLine, legalLineHint, erid, eridHint, reason, reasonHint, address, addressHint } =
    creativeWords[language];
  return {
    labels: { name, legalLine, erid, reason, url: address },
    hints: { name: nameHint, legalLine: legalLineHint, erid: eridHint, reason: reasonHint, url: addressHint },
  };
}
