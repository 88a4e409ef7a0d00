import { type AvailabilityResponse, telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { callerOf } from "../bots/authenticate-client.ts";
import { namedRewardOf } from "../bots/named-reward.ts";
import { availabilityAnswer, describeAvailability } from "./describe-availability.ts";

const availabilityQuery = z.object({ user_tg_id: telegramId });

export function availabilityClientRoutes(
  scope: FastifyInstance,
  deps: { database: Database; campaigns: CampaignSnapshot; now: () => Date },
): void {
  scope.get("/availability", async (request) => {
    const { user_tg_id: userId } = parseRequest(availabilityQuery, request.query);
    const { bot } = callerOf(request);
    const formats = ["rewarded", "direct_link"] as const;
    const availability = await describeAvailability(deps, { bot, userId, formats, now: deps.now() });
    const reward = namedRewardOf(bot);
    const answer: AvailabilityResponse = { ...availabilityAnswer(availability), ...(reward && { reward }) };
    return answer;
  });
}
