import type { BidOutcome } from "@intermission/operator-api/bid-outcomes";
import type { SourceKind } from "@intermission/operator-api/buyers";
import type { ConsentOutcome } from "@intermission/operator-api/consent-outcomes";
import type { RegulatedKind } from "@intermission/operator-api/regulated-categories";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const buyerWords = loadWords("buyers");

export const demandSourceWords = loadWords("demandSources") satisfies Record<
  Language,
  { readonly kinds: Record<SourceKind, string> }
>;

export const partnerReportWords = loadWords("partnerReports");

export const buyerFormWords = loadWords("buyerForm") satisfies Record<
  Language,
  { readonly allowedRegulated: Record<RegulatedKind, string> }
>;

export const consentOutcomeWords = loadWords("consentOutcomes") satisfies Record<
  Language,
  Record<ConsentOutcome, string>
>;

export const bidOutcomeWords = loadWords("bidOutcomes") satisfies Record<Language, Record<BidOutcome, string>>;
