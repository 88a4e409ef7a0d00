import { telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { z } from "zod";
import { type Bots, findBot, unknownBot } from "../bots/bots.ts";
import type { MediaStorage } from "../creatives/media-storage.ts";
import { findMissingMedia } from "../creatives/missing-media.ts";
import type { CampaignSnapshot } from "./campaign-snapshot.ts";
import { explainChoice, seenBy } from "./select-ad.ts";

const query = z.object({
  botId: telegramId,
  userId: telegramId,
  format: z.enum(["rewarded", "direct_link"]).default("rewarded"),
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/, "must be a language code of two or three letters, such as en")
    .optional(),
  platform: z.enum(["android", "ios", "desktop", "web"]).optional(),
  premium: z.stringbool().optional(),
});

export interface ExplainOperatorDeps {
  database: Database;
  media: MediaStorage;
  bots: Bots;
  campaigns: CampaignSnapshot;
  now: () => Date;
}

const explain = {
  operationId: "explainChoice",
  description: "For each running campaign: why it is excluded for a user now, or how likely it is chosen.",
  querystring: query,
};

/** `GET /explain`: for each running campaign, its exclusion reason for a user now, or its likelihood. */
export function explainOperatorRoutes(
  scope: CheckedScope,
  { database, media, bots, campaigns, now }: ExplainOperatorDeps,
): void {
  scope.get("/explain", { schema: explain }, async (request) => {
    const { botId, userId, format, language, platform, premium: isPremium } = request.query;
    const bot = await findBot(bots, botId);
    if (!bot) throw unknownBot(botId);
    await campaigns.refresh();
    const at = now();
    const seen = await seenBy({ database, campaigns }, { botId, userId }, at);
    const user = { language, platform, isPremium };
    const verdicts = explainChoice(campaigns.index, { format, bot, user, seen }, at);
    if (format === "direct_link") return { campaigns: verdicts };
    const missing = await findMissingMedia({ database, media }, at).catch((error: unknown) => {
      request.log.warn({ err: error }, "the media files of active creatives could not be checked");
      return undefined;
    });
    const missingFiles = (campaignId: string) =>
      (campaigns.byId.get(campaignId)?.campaign.creatives ?? []).flatMap(
        ({ creativeId, isActive }) => (isActive && missing?.byCreative.get(creativeId)) || [],
      );
    return {
      campaigns: verdicts.map((verdict) => ({ ...verdict, missingFiles: missingFiles(verdict.campaignId) })),
    };
  });
}
