import type { EventType } from "@intermission/ad-core/wire-fields";
import type { Targeting } from "@intermission/operator-api/campaigns";
import type { ListedDelivery } from "@intermission/operator-api/deliveries";
import type { ClickSuspicion, ViewSuspicion } from "@intermission/operator-api/reviews";
import type { NoAdReason } from "@intermission/operator-api/statistics";
import {
  deliveryStatesInEnglish,
  eventsInEnglish,
  noAdReasonsInEnglish,
  suspicionsInEnglish,
} from "@intermission/operator-api/words-in-english";
import type { Language } from "./word-table.ts";

/** Texts of closed lists that several screens show. */

/** Why requests got no ad. */
export const noFillWords = {
  en: noAdReasonsInEnglish,
  ru: {
    "no-campaign": "ни одна кампания не идёт",
    "none-fits": "ни одна кампания не подходит боту или пользователю",
  },
} satisfies Record<Language, Record<NoAdReason, string>>;

/** Of a delivery. */
export const deliveryWords = {
  en: deliveryStatesInEnglish,
  ru: {
    waiting: "ждёт",
    sending: "в пути",
    delivered: "доставлено",
    failed: "не доставлено",
    held: "задержано",
    unknown: "исход неизвестен",
  },
} satisfies Record<Language, Record<ListedDelivery["state"], string>>;

export const suspicionWords = {
  en: suspicionsInEnglish,
  ru: {
    "mostly-hidden": "реклама была почти всё время скрыта",
    "no-frames": "не показано ни одного кадра",
    "too-many-frames": "кадров больше, чем в видео",
    "faster-than-time": "быстрее реального времени",
    "too-even": "отчёты ровные, как у программы",
    "too-few-calls": "слишком мало отчётов",
    "many-users-of-one-address": "много пользователей с одного адреса",
    "crowded-network": "перегруженная сеть",
    "many-users-of-one-agent": "много пользователей с одним браузером",
    "mostly-taps": "почти одни нажатия",
    "right-after-issue": "сразу после выдачи кода",
    "address-changed": "адрес сменился перед нажатием",
    "tap-unconfirmed": "нажатие не подтверждено",
  },
} satisfies Record<Language, Record<ViewSuspicion | ClickSuspicion, string>>;

/** What a code earns. */
export const eventWords = {
  en: eventsInEnglish,
  ru: { rewarded: "видео с наградой", direct_link: "прямая ссылка" },
} satisfies Record<Language, Record<EventType, string>>;

/** Of the user's client of Telegram. */
export const platformWords = {
  en: { android: "Android", ios: "iOS", desktop: "desktop", web: "web" },
  ru: { android: "Android", ios: "iOS", desktop: "компьютер", web: "веб" },
} satisfies Record<Language, Record<NonNullable<Targeting["platforms"]>[number], string>>;

/** Categories are words of the operator's own choice: these are usual. */
const categories: Readonly<Record<string, string>> = {
  adult: "для взрослых",
  betting: "ставки",
  books: "книги",
  business: "бизнес",
  crypto: "криптовалюты",
  dating: "знакомства",
  education: "образование",
  entertainment: "развлечения",
  finance: "финансы",
  food: "еда",
  gambling: "азартные игры",
  games: "игры",
  health: "здоровье",
  movies: "кино",
  music: "музыка",
  news: "новости",
  politics: "политика",
  productivity: "продуктивность",
  "real-money": "игры на деньги",
  shopping: "покупки",
  sports: "спорт",
  technology: "технологии",
  tools: "инструменты",
  travel: "путешествия",
};

/** The category as the operator wrote it, or its word in the reader's language. */
export function categoryText(language: Language, category: string): string {
  return language === "ru" && Object.hasOwn(categories, category) ? (categories[category] ?? category) : category;
}
