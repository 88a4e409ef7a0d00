import { type AvailabilityResponse, availabilityResponse } from "@intermission/ad-core/client-api";
import { telegramId } from "@intermission/ad-core/wire-fields";
import { adFormats } from "@intermission/operator-api/campaign-words";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { z } from "zod";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { callerOf } from "../bots/authenticate-client.ts";
import { namedRewardsOf } from "../bots/bot-settings.ts";
import { availabilityAnswer, describeAvailability } from "./describe-availability.ts";

const describeAvailabilityOperation = {
  operationId: "describeAvailability",
  description: "Returns whether a user could begin to earn now; if not, why and from when.",
  querystring: z.object({ user_tg_id: telegramId }),
  response: { 200: availabilityResponse },
};

export function availabilityClientRoutes(
  scope: CheckedScope,
  deps: { database: Database; campaigns: CampaignSnapshot; now: () => Date },
): void {
  scope.get("/availability", { schema: describeAvailabilityOperation }, async (request) => {
    const { user_tg_id: userId } = request.query;
    const { bot } = callerOf(request);
    const availability = await describeAvailability(deps, { bot, userId, formats: adFormats, now: deps.now() });
    const rewards = namedRewardsOf(bot);
    const answer: AvailabilityResponse = { ...availabilityAnswer(availability), ...(rewards && { rewards }) };
    return answer;
  });
}
