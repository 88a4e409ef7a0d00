import type { ConversionRefusal } from "@intermission/operator-api/conversions";
import { conversionRefusalsInEnglish } from "@intermission/operator-api/words-in-english";
import { type Language, wordTable } from "../words/word-table.ts";

export const conversionWords = wordTable({
  en: {
    title: "Conversions",
    bot: "Bot",
    allBots: "All bots",
    campaign: "Campaign",
    allCampaigns: "All campaigns",
    period: "Period",
    periods: { "1": "Last 24 hours", "7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days" },
    sums: "By event",
    event: "Event",
    unnamed: "without a name",
    count: "Conversions",
    value: "Value",
    reversed: "Reversed",
    refused: "Refused postbacks",
    latest: "The latest conversions",
    click: "Click",
    at: "When",
    none: "No advertiser has reported a conversion that matches.",
    allEvents: "All events",
  },
  ru: {
    title: "Конверсии",
    bot: "Бот",
    allBots: "Все боты",
    campaign: "Кампания",
    allCampaigns: "Все кампании",
    period: "Период",
    periods: { "1": "24 часа", "7": "7 дней", "30": "30 дней", "90": "90 дней" },
    sums: "По событиям",
    event: "Событие",
    unnamed: "без названия",
    count: "Конверсии",
    value: "Ценность",
    reversed: "Отменено",
    refused: "Отклонённые постбэки",
    latest: "Последние конверсии",
    click: "Клик",
    at: "Когда",
    none: "Рекламодатели не сообщали о подходящих конверсиях.",
    allEvents: "Все события",
  },
});

/** Why postbacks recorded nothing. */
export const refusalWords = {
  en: conversionRefusalsInEnglish,
  ru: {
    "unknown-key": "неизвестный ключ",
    "unknown-click": "у рекламодателя нет такого клика",
    "refused-click": "клик отклонён как подозрительный",
    "too-late": "клик слишком старый",
    "too-many": "слишком много конверсий одного клика",
    reversed: "отменено раньше",
    "unknown-currency": "другая валюта",
    malformed: "неверно составлен",
  },
} satisfies Record<Language, Record<ConversionRefusal, string>>;
