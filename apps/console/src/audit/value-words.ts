import { amountOf } from "@intermission/operator-api/amounts";
import type { AuditField, ObjectKind } from "@intermission/operator-api/audit";
import type { Campaign } from "@intermission/operator-api/campaigns";
import { advertiserWords, billingWords } from "../advertisers/words.ts";
import { settingsWords } from "../bots/settings-words.ts";
import { botWords, endpointWords } from "../bots/words.ts";
import { campaignWords, phaseWords } from "../campaigns/words.ts";
import { creativeWords } from "../creatives/words.ts";
import { reviewStateWords } from "../reviews/words.ts";
import { roleWords } from "../words/role-words.ts";
import { categoryText, deliveryWords, eventWords } from "../words/vocabulary-words.ts";
import type { Language } from "../words/word-table.ts";

type Texts = Readonly<Record<string, string>>;

/** What no other screen says. */
const otherWords = {
  en: {
    boolean: { true: "yes", false: "no" },
    active: "active",
    pacing: { even: "evenly over the day", asap: "as fast as requests come" },
    sample: { adding: "is being added", added: "added", removing: "is being removed" },
  },
  ru: {
    boolean: { true: "да", false: "нет" },
    active: "активна",
    pacing: { even: "равномерно за день", asap: "как можно скорее" },
    sample: { adding: "добавляется", added: "добавлено", removing: "удаляется" },
  },
} satisfies Record<
  Language,
  { boolean: Texts; active: string; pacing: Record<Campaign["pacing"], string>; sample: Texts }
>;

/** The words of the store in fields of closed lists, as other screens say them. */
function textsOf(language: Language): Partial<Record<AuditField, Texts>> {
  const bot = settingsWords[language];
  const { sponsorship, standard, house } = campaignWords[language];
  const { paused, archived } = phaseWords[language];
  const { held, refused, paid } = reviewStateWords[language];
  return {
    billing: billingWords[language],
    delivery_mode: bot.deliveryModeIs,
    disabled_reason: botWords[language].disabledBy,
    formats: eventWords[language],
    kind: creativeWords[language].kinds,
    outcome: { held, refused, released: paid },
    pacing: otherWords[language].pacing,
    pay_per_code: bot.payPerCodeIs,
    priority: { sponsorship, standard, house } satisfies Record<Campaign["priority"], string>,
    resume_state: deliveryWords[language],
    review: creativeWords[language].reviews,
    role: roleWords[language],
    status: { active: otherWords[language].active, paused, archived } satisfies Record<Campaign["status"], string>,
    suspicious_clicks: bot.suspiciousClicksAre,
    suspicious_views: bot.suspiciousViewsAre,
  };
}

/** The states of the kinds of objects that have some. */
function statesOf(language: Language): Partial<Record<ObjectKind, Texts>> {
  const { active, archived } = advertiserWords[language];
  const { held, refused, paid } = reviewStateWords[language];
  return {
    advertiser: { active, archived },
    delivery: deliveryWords[language],
    endpoint: endpointWords[language],
    sample: otherWords[language].sample,
    view: { held, refused, rewarded: paid },
  };
}

interface ValueReading {
  language: Language;
  /** Of the object whose field it is. */
  objectKind: ObjectKind;
  dateTime: (at: Date) => string;
}

/** A value of a field as people read it, a list with commas; empty: there is none. */
export function valueText({ language, objectKind, dateTime }: ValueReading, field: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (field.endsWith("_at") && typeof value === "string" && !Number.isNaN(Date.parse(value)))
    return dateTime(new Date(value));
  if (field.endsWith("_micros") && typeof value === "number") return amountOf(value);
  if (typeof value === "boolean") return otherWords[language].boolean[`${value}`];
  const fields: Readonly<Record<string, Texts>> = textsOf(language);
  const texts = (field === "state" ? statesOf(language)[objectKind] : fields[field]) ?? {};
  const textOf = (word: unknown) => {
    if (typeof word !== "string") return JSON.stringify(word);
    if (field === "category") return categoryText(language, word);
    return Object.hasOwn(texts, word) ? (texts[word] ?? word) : word;
  };
  return Array.isArray(value) ? value.map(textOf).join(", ") : textOf(value);
}
