import type { moneyRoutes } from "@intermission/operator-api/money";
import type { MoneyEntry } from "@intermission/operator-api/money-fields";
import type { z } from "zod";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const advertiserWords = loadWords("advertisers");

export const entryWords = loadWords("moneyEntries") satisfies Record<Language, Record<MoneyEntry["kind"], string>>;

type Correction = z.output<typeof moneyRoutes.correctAdvertiser.body>;

/** The words of a correction's choices. */
export function optionsOfCorrection({ credit, debit, revenue, cash }: (typeof advertiserWords)[Language]) {
  return {
    direction: { credit, debit } satisfies Record<Correction["direction"], string>,
    against: { revenue, cash } satisfies Record<Correction["against"], string>,
  };
}
