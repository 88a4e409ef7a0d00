import { z } from "zod";
import { grants } from "./access.ts";
import { advertiserStates } from "./advertisers.ts";
import { after, confirmation, find, idempotencyKey, micros, next, sortBy, total, wholeList } from "./fields.ts";
import { amountMicros, correction, entries, entriesQuery, note, recorded, reference } from "./money-fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { terms, termsInput, withLimitOnlyOnCredit } from "./terms.ts";

const advertiserMoney = z.object({
  advertiserId: z.string(),
  name: z.string(),
  state: z.enum(advertiserStates),
  billing: terms.shape.billing,
  creditLimitMicros: micros.nullable().describe("Null: prepaid, or on credit without a limit."),
  balanceMicros: micros.describe("What was paid in, less what the campaigns have spent so far; negative on credit."),
  availableMicros: micros.nullable().describe("What may still be spent; null: there is no limit."),
});
export type AdvertiserMoney = z.output<typeof advertiserMoney>;

const listedMoney = advertiserMoney.extend({ campaigns: z.int() });
export type ListedMoney = z.output<typeof listedMoney>;

/** What the list of advertisers with their money is sorted by. */
export const moneySorts = ["name", "state", "campaigns", "billing", "balance", "available"] as const;
export type MoneySort = (typeof moneySorts)[number];

const ofAdvertiser = z.object({ advertiser: z.string().max(128).describe("Its id, or its name in any case.") });
export const moneyRoutes = {
  listAdvertiserMoney: {
    method: "GET",
    path: "/money/advertisers",
    access: grants.moneyReaders,
    description: "Lists what each advertiser has left.",
    query: z.object({
      after,
      limit: wholeList.limit,
      find: find("the name or the id"),
      state: z.enum(advertiserStates).optional(),
      empty: z.stringbool().default(false).describe("Only those that have nothing left."),
      sort: sortBy(moneySorts),
    }),
    answer: z.object({
      currency: z.string(),
      advertisers: z.array(listedMoney).describe("By name, without another order."),
      next,
      total,
    }),
  },
  showAdvertiserMoney: {
    method: "GET",
    path: "/money/advertisers/:advertiser",
    access: { ...grants.moneyReaders, ...grants.ownAdvertiser },
    description: "Returns what an advertiser has left.",
    params: ofAdvertiser,
    answer: advertiserMoney.extend({ currency: z.string() }),
  },
  setTerms: {
    method: "PUT",
    path: "/money/advertisers/:advertiser/terms",
    access: grants.bookkeepers,
    changes: "advertiser",
    description: "Sets whether an advertiser pays before or after, and up to which limit.",
    params: ofAdvertiser,
    body: withLimitOnlyOnCredit(
      z.strictObject({
        ...termsInput,
        billing: terms.shape.billing,
        expected: terms
          .optional()
          .describe("The terms that the caller has seen: if they are others meanwhile, nothing is set (409)."),
      }),
    ).meta({ examples: [{ billing: "prepaid" }] }),
    answer: advertiserMoney,
    refusals: [409],
  },
  recordTopUp: {
    method: "POST",
    path: "/money/advertisers/:advertiser/top-ups",
    access: grants.bookkeepers,
    changes: "advertiser",
    description: "Records money that an advertiser paid in.",
    params: ofAdvertiser,
    query: confirmation,
    body: z
      .strictObject({ amountMicros, reference, note: note.optional(), idempotencyKey })
      .meta({ examples: [{ amountMicros: 100_000_000, reference: "INV-2026-014" }] }),
    status: 201,
    answer: recorded,
    refusals: [409],
  },
  correctAdvertiser: {
    method: "POST",
    path: "/money/advertisers/:advertiser/corrections",
    access: grants.bookkeepers,
    changes: "advertiser",
    description: "Corrects an advertiser's account, by an entry of its own.",
    params: ofAdvertiser,
    body: correction,
    status: 201,
    answer: recorded,
    refusals: [409],
  },
  listAdvertiserEntries: {
    method: "GET",
    path: "/money/advertisers/:advertiser/entries",
    access: { ...grants.moneyReaders, ...grants.ownAdvertiser },
    description: "Lists the entries of an advertiser's account.",
    params: ofAdvertiser,
    query: entriesQuery,
    answer: entries,
  },
} as const satisfies OperatorRoutes;
