import type { AuditField } from "@intermission/operator-api/audit";
import { botFormWords } from "../bots/form-words.ts";
import { pictureWords } from "../bots/picture-words.ts";
import { testersWords } from "../bots/testers-words.ts";
import { tokensWords } from "../bots/tokens-words.ts";
import { campaignFormWords } from "../campaigns/form-words.ts";
import { campaignWords } from "../campaigns/words.ts";
import { creativeWords } from "../creatives/words.ts";
import { peopleWords } from "../people/words.ts";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { termsWords } from "../words/terms-words.ts";

/** The fields that the reader can change or see elsewhere, as they are called there. */
function wordsOfForms(language: Language) {
  const bot = botFormWords[language].labels;
  const { campaign, state } = campaignWords[language];
  const { labels } = campaignFormWords[language];
  const creative = creativeWords[language];
  const pictures = pictureWords[language];
  const person = peopleWords[language];
  return {
    app_origins: bot.appOrigins,
    advertiser_id: labels.advertiser,
    call_to_action: labels.callToAction,
    daily_click_cap: labels.dailyClickCap,
    daily_view_cap: labels.dailyViewCap,
    pacing: labels.pacing,
    total_click_cap: labels.totalClickCap,
    total_view_cap: labels.totalViewCap,
    user_cap: labels.userCap,
    user_cap_seconds: labels.userCapSeconds,
    weight: labels.weight,
    billing: termsWords[language].billing,
    bot_ids: person.bots,
    campaign_id: campaign,
    captions: creative.captions,
    category: bot.category,
    click_price_micros: labels.clickPriceMicros,
    close_when_credited: bot.closeWhenCredited,
    code_lifetime_seconds: bot.codeLifetimeSeconds,
    cooldown_seconds: bot.cooldownSeconds,
    creatives: labels.creativeIds,
    daily_budget_micros: labels.dailyBudgetMicros,
    daily_cap: bot.dailyCap,
    delivery_mode: bot.deliveryMode,
    email: person.email,
    ends_at: labels.endsAt,
    formats: labels.formats,
    include_revenue: bot.includeRevenue,
    kind: creative.kind,
    landing_url: labels.landingUrl,
    legal_line: creative.legalLine,
    name: bot.name,
    pay_per_code: bot.payPerCode,
    picture_file_name: pictures.ofBot,
    poster_file_name: creative.poster,
    priority: labels.priority,
    publisher_api_url: bot.publisherApiUrl,
    reward_per_click: bot.rewardPerClick,
    reward_per_view: bot.rewardPerView,
    reward_unit: bot.rewardUnit,
    role: person.role,
    skip_offer: bot.skipOffer,
    starts_at: labels.startsAt,
    state,
    status: state,
    suspicious_clicks: bot.suspiciousClicks,
    suspicious_views: bot.suspiciousViews,
    testers: testersWords[language].testers,
    time_zone: bot.timeZone,
    tokens: tokensWords[language].tokens,
    total_budget_micros: labels.totalBudgetMicros,
    unit_icon_file_name: pictures.ofUnit,
    username: bot.username,
    view_price_micros: labels.viewPriceMicros,
    webhook_url: bot.webhookUrl,
  } satisfies Partial<Record<AuditField, string>>;
}

type OtherField = Exclude<AuditField, keyof ReturnType<typeof wordsOfForms>>;

/** Those that only the audit trail shows. */
const otherWords = loadWords("auditFields") satisfies Record<Language, Record<OtherField, string>>;

/** The fields of the objects whose changes are recorded. */
function fieldWords(language: Language): Record<AuditField, string> {
  return { ...otherWords[language], ...wordsOfForms(language) };
}

/** What an entry calls its field: in words, if this version knows it. */
export function fieldText(language: Language, field: string): string {
  const words: Readonly<Record<string, string>> = fieldWords(language);
  return Object.hasOwn(words, field) ? (words[field] ?? field) : field;
}
