import type { FormWords } from "../forms/form-words.ts";
import type { Language } from "../words/languages.ts";
import { creativeWords } from "./words.ts";

export function creativeFormWords(language: Language): FormWords<"name" | "legalLine" | "reason" | "url"> {
  const { name, nameHint, legalLine, legalLineHint, reason, reasonHint, address, addressHint } =
    creativeWords[language];
  return {
    labels: { name, legalLine, reason, url: address },
    hints: { name: nameHint, legalLine: legalLineHint, reason: reasonHint, url: addressHint },
  };
}
