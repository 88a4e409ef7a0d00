import { z } from "zod";
import { boundedText, moment, next, wholeList } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const advertiser = z.object({
  name: z.string(),
  campaigns: z.int(),
  conversions: z.int(),
  hasPostbackKey: z.boolean(),
  createdAt: moment,
});

export type Advertiser = z.output<typeof advertiser>;

const params = z.object({ advertiser: z.string().max(128) });

export const advertiserRoutes = {
  listAdvertisers: {
    method: "GET",
    path: "/advertisers",
    description: "Lists the advertisers.",
    query: z.object({
      after: wholeList.after,
      limit: wholeList.limit,
      name: boundedText(128).optional().describe("A part of the name, in any case."),
    }),
    answer: z.object({ advertisers: z.array(advertiser).describe("By name."), next }),
  },
  issuePostbackKey: {
    method: "POST",
    path: "/advertisers/:advertiser/key",
    description: "Issues a new postback key, shown once; the previous one is no longer accepted.",
    params,
    status: 201,
    answer: z.object({ advertiser: z.string(), key: z.string().describe("Shown only here.") }),
  },
  renameAdvertiser: {
    method: "POST",
    path: "/advertisers/:advertiser/rename",
    description: "Renames an advertiser, in its campaigns too.",
    params,
    body: z.strictObject({ newName: boundedText(128) }).meta({ examples: [{ newName: "Shop Ltd" }] }),
    answer: z.object({ name: z.string() }),
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
