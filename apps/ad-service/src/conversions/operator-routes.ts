import { telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { listLimit } from "@intermission/server/parse-request";
import { conflict, notFound } from "@intermission/server/refuse";
import { z } from "zod";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import { listConversions } from "./read-conversions.ts";
import { type ReverseConversionOutcome, reverseConversion } from "./reverse-conversion.ts";

const id = z.string().regex(/^[\w-]{1,64}$/, "must be an id as the lists show it");
const ofWhom = { botId: telegramId.optional(), campaignId: id.optional() };
const key = z.strictObject({
  clickId: z.string().min(1).max(64),
  event: z.string().max(64).default("").describe("As the advertiser sent it; empty if it sent none."),
  conversionId: z.string().max(128).default("").describe("The advertiser's own id; empty if it sent none."),
});
const micros = z.number().describe("In millionths of the currency.");
const operations = {
  list: {
    operationId: "listConversions",
    description: "Lists conversions that advertisers reported, the latest first.",
    querystring: z.object({ ...ofWhom, event: z.string().max(64).optional(), limit: listLimit }),
    response: {
      200: z.object({
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
            occurredAt: z.date(),
            reversedAt: z.date().nullable(),
          }),
        ),
      }),
    },
  },
  reverse: {
    operationId: "reverseConversion",
    description: "Reverses a conversion: an order that was cancelled. It is subtracted in the hour of the reversal.",
    body: key.meta({ examples: [{ clickId: "clk_01969f2c-3f00-7c3e-8f4e-2b9a1d6c5e70", event: "purchase" }] }),
    response: { 200: key.extend({ state: z.literal("reversed") }), ...refusals(409) },
  },
};

/** Conversions that advertisers reported by postback: for statistics only, they move no money. */
export function conversionOperatorRoutes(
  scope: CheckedScope,
  { database, now }: { database: Database; now: () => Date },
): void {
  scope.get("/conversions", { schema: operations.list }, async (request) => {
    await requireBots(database, [request.query.botId]);
    await requireCampaign(database, request.query.campaignId);
    const conversions = await listConversions(database, request.query);
    return {
      conversions: conversions.map((one) => ({
        ...one,
        valueMicros: one.valueMicros === null ? null : jsonInteger(one.valueMicros),
      })),
    };
  });

  scope.post("/conversions/reverse", { schema: operations.reverse }, async (request) => {
    const reversed = await reverseConversion(database, request.body, now());
    return { ...request.body, state: stateOf(reversed, request.body.clickId) };
  });
}

function stateOf(reversed: ReverseConversionOutcome, clickId: string): "reversed" {
  switch (reversed.outcome) {
    case "reversed":
      return "reversed";
    case "reversed-before":
      throw conflict("REVERSED", `this conversion of click ${clickId} was reversed before`);
    case "unknown-conversion": {
      const known = reversed.recorded.map(({ event, conversionId }) => `event "${event}", id "${conversionId}"`);
      const hint = known.length === 0 ? "see all with: conversions list" : `the click's are: ${known.join("; ")}`;
      throw notFound(`click ${clickId} has no such conversion; ${hint}`);
    }
  }
}
