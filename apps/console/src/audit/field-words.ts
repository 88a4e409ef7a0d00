import type { AuditField } from "@intermission/operator-api/audit-fields";
import { byStoredName } from "@intermission/operator-api/stored-names";
import { botFormWords } from "../bots/form-words.ts";
import { pictureWords } from "../bots/picture-words.ts";
import { testersWords } from "../bots/testers-words.ts";
import { tokensWords } from "../bots/tokens-words.ts";
import { buyerFormWords, buyerWords } from "../buyers/words.ts";
import { campaignFormWords } from "../campaigns/form-words.ts";
import { campaignWords } from "../campaigns/words.ts";
import { creativeWords } from "../creatives/words.ts";
import { peopleWords } from "../people/words.ts";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { termsWords } from "../words/terms-words.ts";

/** The fields that the reader can change or see elsewhere, as they are called there. */
function wordsOfForms(language: Language) {
  const { campaign, state } = campaignWords[language];
  const { creativeIds, advertiser, formats, ...settings } = campaignFormWords[language].labels;
  // A form has these below a heading. Here they are blocked_advertisers and blocked_categories of the trail's own words.
  const { blockedAdvertisers: _, blockedCategories: __, ...bot } = botFormWords[language].labels;
  const { name: ___, url: ____, key, blockedCategories: _____, ...buyer } = buyerFormWords[language].labels;
  const creative = creativeWords[language];
  const pictures = pictureWords[language];
  const person = peopleWords[language];
  return {
    ad_description: creative.adDescription,
    ...byStoredName(settings),
    ...byStoredName(bot),
    ...byStoredName(buyer),
    advertiser_id: advertiser,
    billing: termsWords[language].billing,
    bot_ids: person.bots,
    buyer_id: buyerWords[language].name,
    campaign_id: campaign,
    captions: creative.captions,
    creatives: creativeIds,
    email: person.email,
    erid: creative.erid,
    formats,
    kind: creative.kind,
    has_key: key,
    kktu: creative.kktu,
    legal_line: creative.legalLine,
    picture_file_name: pictures.ofBot,
    poster_file_name: creative.poster,
    role: person.role,
    state,
    status: state,
    testers: testersWords[language].testers,
    tokens: tokensWords[language].tokens,
    unit_icon_file_name: pictures.ofUnit,
  };
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
