import { z } from "zod";
import { grants } from "./access.ts";
import { fieldFault, forms } from "./field-forms.ts";
import { after, boundedText, callableAddress, listLimitFrom, moment, next } from "./fields.ts";
import { isInn } from "./inn.ts";
import {
  contractActions,
  contractSubjects,
  contractTypes,
  filingGaps,
  filingKinds,
  filingStates,
  personKinds,
} from "./ord-words.ts";
import type { OperatorRoutes } from "./route.ts";

/** Details of a party that an operator of ad data (Russia) needs. */
export const filedPerson = {
  personKind: z.enum(personKinds).nullable().describe("Of a party in Russia: company, sole trader or person."),
  inn: z
    .string()
    .overwrite((text) => text.replaceAll(/\s/g, ""))
    .refine(isInn, {
      error: "must be an INN with right check digits: 10 digits of a company, 12 of a person",
      params: fieldFault("INN"),
    })
    .nullable()
    .describe("Its taxpayer number in Russia."),
  filedName: boundedText(300).nullable().describe("As Russia's registers have it; null: the legal name."),
};
export const noFiledPerson = { personKind: null, inn: null, filedName: null };

function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
const notADay = "must be a day such as 2026-03-01";

/** The contract of an advertiser with the operator, as it is filed in Russia. */
export const filedContract = {
  contractNumber: boundedText(100).nullable().describe("Of the contract under which the advertiser's ads are shown."),
  contractDate: z
    .string()
    .regex(forms.DAY, notADay)
    .refine(isDay, { error: notADay, params: fieldFault("DAY") })
    .nullable(),
  contractAmount: z
    .string()
    .regex(forms.ROUBLES, "must be roubles such as 150000 or 150000.50")
    .nullable()
    .describe("In roubles; null: the contract names none."),
  contractType: z.enum(contractTypes),
  contractSubject: z.enum(contractSubjects),
  contractAction: z.enum(contractActions).nullable().describe("Of a contract of mediation."),
};
export const noFiledContract = {
  contractNumber: null,
  contractDate: null,
  contractAmount: null,
  contractType: "service",
  contractSubject: "distribution",
  contractAction: null,
} as const;

/** Details of a creative that an operator of ad data needs. */
export const filedCreative = {
  kktu: z
    .string()
    .trim()
    .regex(forms.KKTU, "must be a KKTU code: three numbers, such as 30.10.1")
    .nullable()
    .describe("The category of what it advertises in Russia's classifier KKTU."),
  adDescription: boundedText(500).nullable().describe("What it advertises, where the category alone does not say it."),
};

const account = z.object({
  url: z.string().nullable().describe("Null: nothing is filed yet."),
  hasKey: z.boolean(),
  isRunning: z.boolean(),
});
export type OrdAccount = z.output<typeof account>;

const filing = z.object({
  externalId: z.string().describe("Its id at the operator of ad data."),
  kind: z.enum(filingKinds),
  name: z.string(),
  objectId: z.string().describe("Of the advertiser, the bot or the creative; `operator`."),
  state: z.enum(filingStates),
  gaps: z.array(z.enum(filingGaps)).describe("What is missing here."),
  fault: z.string().nullable().describe("What the operator of ad data, or the way to it, answered last."),
  filedAt: moment.nullable().describe("When it was filed last."),
});
export type Filing = z.output<typeof filing>;

const month = z
  .string()
  .regex(forms.MONTH, "must be a month such as 2026-03")
  .optional()
  .describe("Of the statistics: one that is over (UTC); without it, the last one.");

const sentRequest = z.object({
  externalId: z.string(),
  method: z.enum(["PUT", "POST"]),
  path: z.string(),
  body: z.unknown().describe("Null: a file."),
});

const outcome = z.object({
  month: z.string(),
  filed: z.int().describe("By this run."),
  left: z.int().describe("How many records are not filed."),
  stopped: z.string().nullable().describe("Why the run ended before it had tried all; null: it did not."),
  requests: z.array(sentRequest).describe("What a dry run would send, at most 1,000 records."),
});
export type OrdRun = z.output<typeof outcome>;

/** The time limit of a run, which then reports that records are left. */
export const ORD_RUN_MS = 10 * 60_000;

export const ordRoutes = {
  showOrd: {
    method: "GET",
    path: "/ord",
    access: grants.moneyReaders,
    description: "Returns at which operator of ad data ads are filed.",
    answer: account,
  },
  setOrd: {
    method: "PUT",
    path: "/ord",
    access: grants.owner,
    changes: "deployment",
    description: "Sets the operator of ad data, and the key of its API, which is stored encrypted and never shown.",
    body: z
      .strictObject({
        url: callableAddress
          .overwrite((address) => address.replace(/\/+$/, ""))
          .default("https://api.ord.vk.com")
          .describe("Of an API as VK ORD's; its sandbox is https://api-sandbox.ord.vk.com."),
        key: z
          .string()
          .trim()
          .regex(forms.SERVICE_KEY, "must be the key as the operator of ad data shows it")
          .describe("Sent as `Authorization: Bearer`."),
      })
      .meta({ examples: [{ url: "https://api-sandbox.ord.vk.com", key: "key-of-the-sandbox" }] }),
    answer: account,
  },
  listFilings: {
    method: "GET",
    path: "/ord/filings",
    access: grants.moneyReaders,
    description: "Lists what is to be filed at the operator of ad data: what is not filed, or all.",
    query: z.object({
      month,
      all: z.stringbool().default(false).describe("Also what is filed."),
      after,
      limit: listLimitFrom(1000),
    }),
    answer: z.object({
      month: z.string(),
      filings: z.array(filing).describe("In the order in which they are filed."),
      filed: z.int().describe("How many are filed."),
      left: z.int().describe("How many are not."),
      next,
    }),
    refusals: [409],
  },
  syncOrd: {
    method: "POST",
    path: "/ord/sync",
    access: grants.bookkeepers,
    changes: "deployment",
    description:
      "Files what is not filed, or has changed since, at the operator of ad data, and stores the erids that it gives. A second run at the same time is refused; a run that was killed is continued by the next one.",
    body: z
      .strictObject({
        month,
        isDryRun: z.boolean().default(false).describe("Send nothing, and return what would be sent."),
      })
      .meta({ examples: [{ month: "2026-02", isDryRun: true }] }),
    answer: outcome,
    refusals: [409],
    answerTimeoutMs: ORD_RUN_MS + 60_000,
  },
} as const satisfies OperatorRoutes;
