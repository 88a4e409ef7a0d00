import type { FilingGap, FilingKind, FilingState } from "./ord-words.ts";

/** English texts of filings, for the command line. The console has them in each language. */

export const filingKindsInEnglish = {
  person: "party",
  contract: "contract",
  pad: "bot",
  media: "video file",
  creative: "creative",
  statistics: "statistics",
} satisfies Record<FilingKind, string>;

export const filingStatesInEnglish = {
  filed: "filed",
  ready: "to be filed: ads ord sync",
  waiting: "waits for a record before it",
  incomplete: "incomplete",
  refused: "refused",
} satisfies Record<FilingState, string>;

/** The missing detail and the next step. */
export const filingGapsInEnglish = {
  operator: "your legal name, kind or INN is missing: ads money set-operator --legal-name … --person-kind … --inn …",
  advertiser:
    "the advertiser's legal name, kind or INN is missing: ads money set-party <advertiser> --legal-name … --person-kind … --inn …",
  payee:
    "the legal name, kind or INN of the bot's publisher is missing: ads money set-payee <bot-id> --legal-name … --person-kind … --inn …",
  "inn-length": "an INN has 10 digits for a company and 12 for anybody else: correct the INN or the kind",
  contract:
    "the contract's number or date is missing: ads money set-party <advertiser> --contract-number … --contract-date …",
  "contract-action": "a contract of mediation needs what is done: ads money set-party <advertiser> --contract-action …",
  "bot-username": "the bot's username is missing: ads bots set <bot-id> --username …",
  kktu: "the category is missing: ads creatives filing <creative-id> --kktu …",
  "no-advertiser": "it belongs to no advertiser: attach it to a campaign of one",
  "several-advertisers": "campaigns of several advertisers show it: upload it once for each",
  "no-file": "its video is elsewhere: upload the file itself",
  "other-erid":
    "its erid is another one than was filed here: its statistics belong to whoever gave it; or remove it: ads creatives erid <creative-id> --remove",
  "negative-amount": "refunds of earlier months exceed what the month earned: file it by hand",
} satisfies Record<FilingGap, string>;
