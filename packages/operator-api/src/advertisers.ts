import { z } from "zod";
import { grants } from "./access.ts";
import { boundedText, moment, next, wholeList } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { termsInput, withLimitOnlyOnCredit } from "./terms.ts";

export const advertiserStates = ["active", "archived"] as const;

const advertiser = z.object({
  advertiserId: z.string().describe("Stays when the name changes."),
  name: z.string(),
  state: z.enum(advertiserStates).describe("The campaigns of an archived advertiser do not run."),
  campaigns: z.int(),
  conversions: z.int().describe("Less those that were reversed, as the statistics count them."),
  hasPostbackKey: z.boolean(),
  createdAt: moment,
});

export type Advertiser = z.output<typeof advertiser>;

const params = z.object({ advertiser: z.string().max(128).describe("Its id, or its name in any case.") });
const name = boundedText(128).describe("Shown to viewers.");

/** Equal for names that differ only in case, whitespace or Unicode composition. */
export function advertiserKey(name: string): string {
  return name.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase();
}

export const advertiserRoutes = {
  listAdvertisers: {
    method: "GET",
    path: "/advertisers",
    access: grants.moneyReaders,
    description: "Lists the advertisers.",
    query: z.object({
      after: wholeList.after,
      limit: wholeList.limit,
      name: boundedText(128).optional().describe("A part of the name, in any case."),
      state: z.enum(advertiserStates).optional(),
    }),
    answer: z.object({ advertisers: z.array(advertiser).describe("By name."), next }),
  },
  issuePostbackKey: {
    method: "POST",
    path: "/advertisers/:advertiser/key",
    access: { ...grants.staff, ...grants.ownAdvertiser },
    changes: "advertiser",
    description: "Issues a new postback key, shown once; the previous one is no longer accepted.",
    params,
    status: 201,
    answer: z.object({
      advertiserId: z.string(),
      advertiser: z.string(),
      key: z.string().describe("Shown only here."),
    }),
  },
  showAdvertiser: {
    method: "GET",
    path: "/advertisers/:advertiser",
    access: { ...grants.moneyReaders, ...grants.ownAdvertiser },
    description: "Returns an advertiser.",
    params,
    answer: advertiser,
  },
  addAdvertiser: {
    method: "POST",
    path: "/advertisers",
    access: grants.bookkeepers,
    changes: "advertiser",
    description: "Adds an advertiser before its first campaign.",
    body: withLimitOnlyOnCredit(z.strictObject({ name, ...termsInput })).meta({
      examples: [{ name: "Shop", billing: "credit", creditLimitMicros: 500_000_000 }],
    }),
    status: 201,
    answer: advertiser,
    refusals: [409],
  },
  updateAdvertiser: {
    method: "PATCH",
    path: "/advertisers/:advertiser",
    access: grants.bookkeepers,
    changes: "advertiser",
    description: "Changes the given settings of an advertiser; a new name is shown by its campaigns too.",
    params,
    body: z
      .strictObject({
        name,
        expected: z
          .strictObject({ name: z.string().max(128) })
          .optional()
          .describe("What the caller has seen: if the name is another one meanwhile, nothing is changed (409)."),
      })
      .meta({ examples: [{ name: "Shop Ltd" }] }),
    answer: advertiser,
    refusals: [409],
  },
  archiveAdvertiser: {
    method: "POST",
    path: "/advertisers/:advertiser/archive",
    access: grants.staff,
    changes: "advertiser",
    description: "Stops all campaigns of an advertiser; its statistics and money stay.",
    params,
    answer: advertiser,
  },
  restoreAdvertiser: {
    method: "POST",
    path: "/advertisers/:advertiser/restore",
    access: grants.staff,
    changes: "advertiser",
    description: "Lets the active campaigns of an archived advertiser run again.",
    params,
    answer: advertiser,
  },
} as const satisfies OperatorRoutes;
