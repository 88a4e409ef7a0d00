import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { micros } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { countryCode } from "./standard-codes.ts";

export const orderModes = ["earned", "fixed", "weights"] as const;

const sourceOrder = z.object({
  botId: z.string(),
  mode: z
    .enum(orderModes)
    .describe(
      "`weights`, the default: drawn, as videos are; `earned`: by what each earned in seven days; `fixed`: as `campaignIds`.",
    ),
  campaignIds: z.array(z.string()).describe("The operator's order; empty unless it is fixed."),
  exploredShare: z.number().describe("The part of openings in which another tag goes first, to learn of it."),
  sources: z
    .array(
      z.object({
        campaignId: z.string(),
        name: z.string(),
        place: z.int().nullable().describe("In the order, from 1; null: it is not requested, or by weight."),
        priceMicros: micros.describe("For one view."),
        tries: z.int().describe("Requests of the last seven days."),
        fills: z.int().describe("Of these, the answers with an ad."),
        completed: z.int().describe("Of these ads, those that were watched to the end and paid."),
        earnedMicros: micros.describe("In the last seven days."),
        fillShare: z.number().describe("How likely it has an ad, 0 to 1: a source without requests counts as 0.5."),
        fillMicros: micros.describe(
          "What an ad of it is expected to earn: its price by the part that is watched to the end, at first all.",
        ),
      }),
    )
    .describe("Campaigns of VAST tags without sponsorships, in their order."),
});
export type SourceOrder = z.output<typeof sourceOrder>;

const params = z.object({ botId: telegramId });

export const sourceOrderRoutes = {
  explainOrder: {
    method: "GET",
    path: "/bots/:botId/order",
    access: grants.readers,
    description: "Returns in which order the VAST tags of a bot are requested, and from which figures.",
    params,
    query: z.object({ country: countryCode.optional().describe("Of the viewers; default: the figures of all.") }),
    answer: sourceOrder,
  },
  setOrder: {
    method: "PUT",
    path: "/bots/:botId/order",
    access: grants.staff,
    changes: "bot",
    description: "Says how the VAST tags of a bot are ordered. A node follows within a minute.",
    params,
    body: z
      .strictObject({
        mode: z
          .enum(orderModes)
          .describe("By what they earned, by a fixed list, or drawn by weight, as without an order."),
        campaignIds: z.array(z.string().max(64)).max(100).optional().describe("The fixed order, the first one first."),
      })
      .meta({ examples: [{ mode: "earned" }, { mode: "fixed", campaignIds: ["cmp_2", "cmp_1"] }] }),
    answer: sourceOrder,
  },
} as const satisfies OperatorRoutes;
