import type { CampaignPhase } from "@intermission/operator-api/campaign-phase";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const campaignWords = loadWords("campaigns");

export const campaignReviewWords = loadWords("campaignReviews");

export const phaseWords = loadWords("campaignPhases") satisfies Record<Language, Record<CampaignPhase, string>>;
