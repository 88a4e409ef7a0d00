import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { microsOf } from "./amounts.ts";
import { fieldFault, forms } from "./field-forms.ts";
import { boundedText, namesSetting, nothingToChange } from "./fields.ts";
import { electronicIban, isIban } from "./iban.ts";
import { isLatinText } from "./latin-text.ts";
import { filedContract, filedPerson, noFiledContract, noFiledPerson } from "./ord.ts";
import type { OperatorRoutes } from "./route.ts";
import { statementLanguages } from "./statement-languages.ts";

const latin = {
  error: "must be in Latin letters, as the bank knows it",
  params: fieldFault("LATIN_LETTERS"),
};
/** 70 characters are what a bank takes. */
const legalName = boundedText(70).refine(isLatinText, latin).nullable();
const address = boundedText(200).nullable();
const taxId = boundedText(40).nullable().describe("The number by which the tax office knows the party.");
const iban = z
  .string()
  .max(50)
  .overwrite(electronicIban)
  .refine(isIban, {
    error: "must be an IBAN with right check digits, such as DE89 3704 0044 0532 0130 00",
    params: fieldFault("IBAN"),
  })
  .nullable();
/** Of a company. */
const domain = z
  .string()
  .overwrite((text) => text.trim().toLowerCase())
  .regex(forms.DOMAIN, "must be a domain such as studio.example")
  .nullable();
const contactEmail = z
  .email("must be an e-mail address such as ann@example.com")
  .max(254)
  .overwrite((text) => text.toLowerCase())
  .nullable();
const language = z.enum(statementLanguages).describe("Of statements.");
const leastPayoutMicros = microsOf("price");

/** Text, so that 8.1 stays 8.1. */
const percent = z.string().regex(forms.PERCENT, "must be a number such as 19 or 8.1, with two decimals at most");

/** The operator's own. */
export const operatorParty = z.strictObject({
  legalName,
  address,
  taxId,
  iban: iban.describe("The account that payouts are paid from."),
  leastPayoutMicros: leastPayoutMicros.describe("What is less stays owed, and is paid with a later month."),
  taxName: boundedText(40).nullable().describe("As `VAT`. With a rate, statements of advertisers have a line of it."),
  taxPercent: percent.nullable().describe("Contained in the prices."),
  domain: domain.describe("Of the operator's company: `OWNERDOMAIN` of ads.txt."),
  contactEmail: contactEmail.describe("For buyers, in ads.txt and sellers.json, which anyone can read."),
  tagId: z
    .string()
    .overwrite((text) => text.trim().toLowerCase())
    .regex(forms.TAG_ID, "must be a TAG-ID of 16 hexadecimal digits, such as f08c47fec0942fa0")
    .nullable()
    .describe("Of the operator's certification by the Trustworthy Accountability Group."),
  topUpText: boundedText(1000)
    .nullable()
    .describe("How advertisers pay in, such as the account and the reference: they read it beside their balance."),
  topUpUrl: z
    .url({ protocol: /^https$/, error: "must be an address such as https://pay.example.com" })
    .max(500)
    .nullable()
    .describe("Where advertisers pay in."),
  ...filedPerson,
});
export type OperatorParty = z.output<typeof operatorParty>;

export const advertiserParty = z.strictObject({
  legalName: boundedText(200).nullable(),
  address,
  taxId,
  language,
  taxNote: boundedText(200).nullable().describe("Stands on statements in place of the line of the tax."),
  ...filedPerson,
  ...filedContract,
});
export type AdvertiserParty = z.output<typeof advertiserParty>;

export const payee = z.strictObject({
  legalName: legalName.describe("The holder of the account."),
  address,
  taxId,
  iban: iban.describe("Without name and account, a publisher is left out where all are paid."),
  language,
  leastPayoutMicros: leastPayoutMicros.nullable().describe("Null: that of the deployment."),
  domain: domain.describe(
    "Of the publisher's company. With it, its name is published in sellers.json; null: the bot's id alone.",
  ),
  ...filedPerson,
});
export type Payee = z.output<typeof payee>;

export const noOperatorParty: OperatorParty = {
  legalName: null,
  address: null,
  taxId: null,
  iban: null,
  leastPayoutMicros: 0,
  taxName: null,
  taxPercent: null,
  domain: null,
  contactEmail: null,
  tagId: null,
  topUpText: null,
  topUpUrl: null,
  ...noFiledPerson,
};
export const noAdvertiserParty: AdvertiserParty = {
  legalName: null,
  address: null,
  taxId: null,
  language: "en",
  taxNote: null,
  ...noFiledPerson,
  ...noFiledContract,
};
export const noPayee: Payee = {
  legalName: null,
  address: null,
  taxId: null,
  iban: null,
  language: "en",
  leastPayoutMicros: null,
  domain: null,
  ...noFiledPerson,
};

const seen = "What the caller has seen: if it is otherwise meanwhile, nothing is set (409).";

/** What is not named stays. */
function changeOf<Shape extends z.ZodRawShape>(party: z.ZodObject<Shape>) {
  return party
    .partial()
    .extend({ expected: party.optional().describe(seen) })
    .strict()
    .refine(namesSetting, nothingToChange);
}

const ofAdvertiser = z.object({ advertiser: z.string().max(128).describe("Its id, or its name in any case.") });
const ofBot = z.object({ botId: telegramId });

export const partyRoutes = {
  showOperatorParty: {
    method: "GET",
    path: "/money/operator",
    access: grants.moneyReaders,
    description: "Returns what statements and payouts say of the operator.",
    answer: operatorParty,
  },
  setOperatorParty: {
    method: "PATCH",
    path: "/money/operator",
    access: grants.bookkeepers,
    changes: "party",
    description: "Changes what statements and payouts from now on say of the operator.",
    body: changeOf(operatorParty).meta({
      examples: [{ legalName: "Rewards Ltd", iban: "DE89370400440532013000", leastPayoutMicros: 20_000_000 }],
    }),
    answer: operatorParty,
    refusals: [409],
  },
  showTopUpWays: {
    method: "GET",
    path: "/money/advertisers/:advertiser/top-up-ways",
    access: { ...grants.moneyReaders, ...grants.ownAdvertiser },
    description: "Returns how an advertiser pays in, as the operator has set it.",
    params: ofAdvertiser,
    answer: operatorParty.pick({ topUpText: true, topUpUrl: true, contactEmail: true }),
  },
  showAdvertiserParty: {
    method: "GET",
    path: "/money/advertisers/:advertiser/party",
    access: { ...grants.moneyReaders, ...grants.ownAdvertiser },
    description: "Returns what an advertiser's statements say of it.",
    params: ofAdvertiser,
    answer: advertiserParty,
  },
  setAdvertiserParty: {
    method: "PATCH",
    path: "/money/advertisers/:advertiser/party",
    access: grants.bookkeepers,
    changes: "party",
    description: "Changes what an advertiser's later statements say of it.",
    params: ofAdvertiser,
    body: changeOf(advertiserParty).meta({ examples: [{ legalName: "Shop Ltd", address: "1 High Street, Dublin" }] }),
    answer: advertiserParty,
    refusals: [409],
  },
  showPayee: {
    method: "GET",
    path: "/money/publishers/:botId/payee",
    access: { ...grants.moneyReaders, ...grants.ownBot },
    description: "Returns to whom payouts of a bot go.",
    params: ofBot,
    answer: payee,
  },
  setPayee: {
    method: "PATCH",
    path: "/money/publishers/:botId/payee",
    access: grants.bookkeepers,
    changes: "party",
    description: "Changes to whom later payouts of a bot go.",
    params: ofBot,
    body: changeOf(payee).meta({ examples: [{ legalName: "Quiz Studio", iban: "NL91ABNA0417164300" }] }),
    answer: payee,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
