import { conversionRoutes } from "@intermission/operator-api/conversions";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { conflict, invalidField, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { z } from "zod";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import { listConversions } from "./read-conversions.ts";
import { type ConversionKey, type ReverseConversionOutcome, reverseConversion } from "./reverse-conversion.ts";

/** Conversions that advertisers reported by postback: for statistics only, they move no money. */
export function conversionOperatorRoutes(
  scope: CheckedScope,
  { database, now }: { database: Database; now: () => Date },
): void {
  serveOperatorRoutes(scope, conversionRoutes, {
    async listConversions(request) {
      await requireBots(database, [request.query.botId]);
      await requireCampaign(database, request.query.campaignId);
      const { after: cursor, ...of } = request.query;
      const { rows, next } = await listConversions(database, { ...of, after: readCursor(cursor) });
      return {
        next: next && cursorOf(next),
        conversions: rows.map((one) => ({
          ...one,
          valueMicros: one.valueMicros === null ? null : jsonInteger(one.valueMicros),
        })),
      };
    },

    async reverseConversion(request) {
      const reversed = await reverseConversion(database, {
        ...request.body,
        author: authorOf(request.http),
        now: now(),
      });
      return { ...request.body, state: stateOf(reversed, request.body.clickId) };
    },
  });
}

const cursorKey = z.tuple([z.string(), z.string(), z.string()]);

/** Three columns identify a conversion, so that its cursor has three parts. */
function cursorOf({ clickId, event, conversionId }: ConversionKey): string {
  return Buffer.from(JSON.stringify([clickId, event, conversionId])).toString("base64url");
}

function readCursor(cursor: string | undefined): ConversionKey | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [clickId, event, conversionId] = cursorKey.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
    return { clickId, event, conversionId };
  } catch {
    throw invalidField("after", "is not the next of an earlier page of conversions", fieldFault("CURSOR"));
  }
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
