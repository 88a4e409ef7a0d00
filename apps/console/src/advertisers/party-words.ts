import type { ContractAction, ContractSubject, ContractType, PersonKind } from "@intermission/operator-api/ord-words";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const partyWords = loadWords("parties");

type PartyWords = (typeof partyWords)[Language];

/** Words of the fields that are filed in Russia. */
export function filedWords({ russia, personKind, personKinds, inn, innHint, filedName, filedNameHint }: PartyWords) {
  return {
    labels: { personKind, inn, filedName },
    hints: { inn: innHint, filedName: filedNameHint },
    options: { personKind: personKinds satisfies Record<PersonKind, string> },
    sections: { russia },
  };
}

export function contractWords(words: PartyWords) {
  const { contractNumber, contractDate, contractAmount, contractType, contractSubject, contractAction } = words;
  return {
    labels: { contractNumber, contractDate, contractAmount, contractType, contractSubject, contractAction },
    hints: { contractDate: words.contractDateHint, contractAmount: words.contractAmountHint },
    options: {
      contractType: words.contractTypes satisfies Record<ContractType, string>,
      contractSubject: words.contractSubjects satisfies Record<ContractSubject, string>,
      contractAction: words.contractActions satisfies Record<ContractAction, string>,
    },
  };
}
