import { type AvailabilityResponse, telegramId } from "@intermission/ad-core/client-api";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { callerOf } from "../bots/authenticate-client.ts";
import { type Availability, describeAvailability } from "./describe-availability.ts";

const availabilityQuery = z.object({ user_tg_id: telegramId });

export function availabilityClientRoutes(
  scope: FastifyInstance,
  deps: { database: AdDatabase; campaigns: CampaignSnapshot; now: () => Date },
): void {
  scope.get("/availability", async (request) => {
    const { user_tg_id: userId } = parseRequest(availabilityQuery, request.query);
    const { bot } = callerOf(request);
    return availabilityAnswer(await describeAvailability(deps, { bot, userId, now: deps.now() }));
  });
}

function availabilityAnswer(availability: Availability): AvailabilityResponse {
  if (availability.outcome === "available") return { available: true };
  const { reason, availableAt } = availability;
  return { available: false, reason, ...(availableAt && { available_at: availableAt.toISOString() }) };
}
