import type { AnyEventType } from "@intermission/ad-core/event-words";
import type { CampaignPriority, Platform } from "@intermission/operator-api/campaign-words";
import type { ListedDelivery } from "@intermission/operator-api/deliveries";
import type { NoAdReason } from "@intermission/operator-api/report-figures";
import type { ClickSuspicion, ViewSuspicion } from "@intermission/operator-api/suspicions";
import { loadWords } from "./catalog.ts";
import type { Language } from "./languages.ts";

/** Texts of closed lists that several screens show. */

/** Why requests got no ad. */
export const noFillWords = loadWords("noAdReasons") satisfies Record<Language, Record<NoAdReason, string>>;

/** Of a delivery. */
export const deliveryWords = loadWords("deliveryStates") satisfies Record<
  Language,
  Record<ListedDelivery["state"], string>
>;

export const suspicionWords = loadWords("suspicions") satisfies Record<
  Language,
  Record<ViewSuspicion | ClickSuspicion, string>
>;

/** What a code earns. */
export const eventWords = loadWords("events") satisfies Record<Language, Record<AnyEventType, string>>;

/** The serving order of campaigns. */
export const priorityWords = loadWords("priorities") satisfies Record<Language, Record<CampaignPriority, string>>;

/** Of the user's client of Telegram. */
export const platformWords = loadWords("platforms") satisfies Record<Language, Record<Platform, string>>;

/** Categories are words of the operator's own choice: these are usual. */
const categories = loadWords("categories");

/** The category as the operator wrote it, or its word in the reader's language. */
export function categoryText(language: Language, category: string): string {
  const words: Readonly<Record<string, string>> = categories[language];
  return Object.hasOwn(words, category) ? (words[category] ?? category) : category;
}
