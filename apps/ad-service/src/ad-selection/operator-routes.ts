import type { Bot } from "@intermission/operator-api/bots";
import type { CampaignFormat } from "@intermission/operator-api/campaign-words";
import { explainRoutes } from "@intermission/operator-api/explain";
import type { AnswerOf } from "@intermission/operator-api/route";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { type Bots, findBot, unknownBot } from "../bots/bots.ts";
import type { MediaStorage } from "../creatives/media-storage.ts";
import { findMissingMedia } from "../creatives/missing-media.ts";
import type { CampaignSnapshot } from "./campaign-snapshot.ts";
import { explainChoice } from "./explain-choice.ts";
import { seenBy } from "./select-ad.ts";

interface ExplainOperatorDeps {
  database: Database;
  media: MediaStorage;
  bots: Bots;
  campaigns: CampaignSnapshot;
  /** Why no ad at all is opened for a user now. */
  blockOf(viewer: {
    bot: Bot;
    userId: string;
    format: CampaignFormat;
    now: Date;
  }): Promise<AnswerOf<typeof explainRoutes.explainChoice>["blocked"]>;
  now: () => Date;
}

/** `GET /explain`: for each running campaign, its exclusion reason for a user now, or its likelihood. */
export function explainOperatorRoutes(
  scope: CheckedScope,
  { database, media, bots, campaigns, blockOf, now }: ExplainOperatorDeps,
): void {
  serveOperatorRoutes(scope, explainRoutes, {
    async explainChoice(request) {
      const { botId, userId, format, language, platform, country, premium: isPremium } = request.query;
      const bot = await findBot(bots, botId);
      if (!bot) throw unknownBot(botId);
      await campaigns.refresh();
      const at = now();
      const seen = await seenBy({ database, campaigns }, { botId, userId }, at);
      const user = { language, platform, country, isPremium };
      const blocked = await blockOf({ bot, userId, format, now: at });
      const verdicts = explainChoice(campaigns.index, { format, bot, user, seen }, at).map((verdict) =>
        blocked === undefined ? verdict : { ...verdict, likelihood: 0 },
      );
      if (format === "direct_link") return { blocked, campaigns: verdicts };
      const missing = await findMissingMedia({ database, media }, at).catch((error: unknown) => {
        request.log.warn({ err: error }, "the media files could not be checked");
        return undefined;
      });
      const missingFiles = (campaignId: string) =>
        (campaigns.byId.get(campaignId)?.campaign.creatives ?? []).flatMap(
          ({ creativeId, isActive }) => (isActive && missing?.byOwner.get(creativeId)) || [],
        );
      return {
        blocked,
        campaigns: verdicts.map((verdict) => ({ ...verdict, missingFiles: missingFiles(verdict.campaignId) })),
      };
    },
  });
}
