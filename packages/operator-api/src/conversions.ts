import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { after, listedId, listLimit, micros, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const key = z.strictObject({
  clickId: z.string().min(1).max(64),
  event: z.string().max(64).default("").describe("As the advertiser sent it; empty if it sent none."),
  conversionId: z.string().max(128).default("").describe("The advertiser's own id; empty if it sent none."),
});

/** Why a postback recorded nothing. */
export const conversionRefusal = z.enum([
  "unknown-key",
  /** No click of this advertiser's, or a click that never counted. */
  "unknown-click",
  /** The click was withheld as suspicious, and refused. */
  "refused-click",
  "too-late",
  "too-many",
  /** It was recorded, and an operator has reversed it. */
  "reversed",
  "unknown-currency",
  "malformed",
]);
export type ConversionRefusal = z.output<typeof conversionRefusal>;

export const conversionRoutes = {
  listConversions: {
    method: "GET",
    path: "/conversions",
    access: grants.readers,
    description: "Lists conversions that advertisers reported, the latest first.",
    query: z.object({
      botId: telegramId.optional(),
      campaignId: listedId.optional(),
      event: z.string().max(64).optional(),
      after,
      limit: listLimit,
    }),
    answer: z.object({
      conversions: z.array(
        z.object({
          clickId: z.string(),
          event: z.string(),
          conversionId: z.string(),
          botId: z.string(),
          campaignId: z.string(),
          creativeId: z.string().nullable(),
          valueMicros: micros.nullable(),
          currency: z.string(),
          occurredAt: moment,
          reversedAt: moment.nullable(),
        }),
      ),
      next,
    }),
  },
  reverseConversion: {
    method: "POST",
    path: "/conversions/reverse",
    access: grants.staff,
    changes: "conversion",
    description: "Reverses a conversion: an order that was cancelled. It is subtracted in the hour of the reversal.",
    body: key.meta({ examples: [{ clickId: "clk_01969f2c-3f00-7c3e-8f4e-2b9a1d6c5e70", event: "purchase" }] }),
    answer: key.extend({ state: z.literal("reversed") }),
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
