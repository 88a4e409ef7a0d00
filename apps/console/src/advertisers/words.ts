import type { MoneyEntry } from "@intermission/operator-api/money-fields";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const advertiserWords = loadWords("advertisers");

export const entryWords = loadWords("moneyEntries") satisfies Record<Language, Record<MoneyEntry["kind"], string>>;
