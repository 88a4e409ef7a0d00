import { amountOf } from "@intermission/operator-api/amounts";
import type { AuditWords } from "@intermission/operator-api/audit-fields";
import type { Campaign, pausers } from "@intermission/operator-api/campaigns";
import type { ObjectKind } from "@intermission/operator-api/object-kinds";
import { partyWords } from "../advertisers/party-words.ts";
import { advertiserWords } from "../advertisers/words.ts";
import { approvalWords } from "../approvals/words.ts";
import { botFormWords } from "../bots/form-words.ts";
import { botWords, endpointWords } from "../bots/words.ts";
import { buyerFormWords } from "../buyers/words.ts";
import { campaignFormWords } from "../campaigns/form-words.ts";
import { campaignWords, phaseWords } from "../campaigns/words.ts";
import { creativeWords } from "../creatives/words.ts";
import { reviewStateWords } from "../reviews/words.ts";
import { channelRightsWords, taskWords } from "../tasks/words.ts";
import { loadWords } from "../words/catalog.ts";
import { type Language, languageNames } from "../words/languages.ts";
import { roleWords } from "../words/role-words.ts";
import { billingWords } from "../words/terms-words.ts";
import { categoryText, deliveryWords, eventWords, priorityWords } from "../words/vocabulary-words.ts";

type Pauser = (typeof pausers)[number];
type Texts = Readonly<Record<string, string>>;

/** What no other screen says. */
const otherWords = loadWords("auditValues") satisfies Record<
  Language,
  { boolean: Texts; active: string; sample: Texts }
>;

/** The words of the store in fields of closed lists, as other screens say them. */
function textsOf(language: Language) {
  const bot = botFormWords[language].options;
  const campaign = campaignFormWords[language].options;
  const buyer = buyerFormWords[language];
  const party = partyWords[language];
  const { byPolling, byWebhook } = taskWords[language];
  const { pausedState: paused, byOperator, byAdvertiser, byReview } = campaignWords[language];
  const { archived } = phaseWords[language];
  const { held, refused, paid } = reviewStateWords[language];
  return {
    billing: billingWords[language],
    delivery_mode: bot.deliveryMode,
    disabled_reason: botWords[language].disabledBy,
    formats: eventWords[language],
    kind: creativeWords[language].kinds,
    outcome: { held, refused, released: paid },
    pacing: campaign.pacing,
    paused_by: { operator: byOperator, advertiser: byAdvertiser, review: byReview } satisfies Record<Pauser, string>,
    pay_per_code: bot.payPerCode,
    priority: priorityWords[language],
    resume_state: deliveryWords[language],
    review: creativeWords[language].reviews,
    role: roleWords[language],
    status: { active: otherWords[language].active, paused, archived } satisfies Record<Campaign["status"], string>,
    suspicious_clicks: bot.suspiciousClicks,
    suspicious_views: bot.suspiciousViews,
    allowed_regulated: buyer.allowedRegulated,
    contract_action: party.contractActions,
    contract_subject: party.contractSubjects,
    contract_type: party.contractTypes,
    language: languageNames,
    person_kind: party.personKinds,
    protocol: buyer.protocol,
    rights: channelRightsWords[language],
    sends: buyer.sends,
    task_paid_at: campaign.taskPaidAt,
    updates_by: { polling: byPolling, webhook: byWebhook },
  } satisfies { [Field in keyof AuditWords]: Record<AuditWords[Field], string> } & {
    outcome: Texts;
    resume_state: Texts;
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
    "money-request": approvalWords[language].states,
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
