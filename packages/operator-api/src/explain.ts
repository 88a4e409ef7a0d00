import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { campaignFormats, campaignPriorities, platforms } from "./campaign-words.ts";
import { moment } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { countryCode, languageCode } from "./standard-codes.ts";

const exclusionReason = z.enum([
  "other-format",
  "no-video",
  "not-approved",
  "no-vast-ad",
  "not-started",
  "ended",
  "blocked-category",
  "blocked-advertiser",
  "other-bot",
  "other-bot-category",
  "excluded-bot",
  "excluded-bot-category",
  "other-language",
  "other-platform",
  "other-country",
  "other-premium",
  "other-hour",
  "other-weekday",
  "total-budget",
  "daily-budget",
  "total-view-cap",
  "daily-view-cap",
  "total-click-cap",
  "daily-click-cap",
  "advertiser-funds",
  "user-cap",
  "ahead-of-plan",
]);

/** Why a user is shown no ad at all now. */
export const viewerBlock = z.object({
  reason: z.enum(["bot-suspended", "cooldown", "daily-cap"]),
  availableAt: moment.nullable().describe("When the user may earn again; null for a suspended bot."),
});
export type ViewerBlock = z.output<typeof viewerBlock>;

export const explainRoutes = {
  explainChoice: {
    method: "GET",
    path: "/explain",
    access: grants.readers,
    description: "For each running campaign: why it is excluded for a user now, or how likely it is chosen.",
    query: z.object({
      botId: telegramId,
      userId: telegramId,
      format: z.enum(campaignFormats).default("rewarded"),
      language: languageCode.optional(),
      platform: z.enum(platforms).optional(),
      country: countryCode.optional(),
      premium: z.stringbool().optional(),
    }),
    answer: z.object({
      blocked: viewerBlock
        .optional()
        .describe("Why no campaign at all is shown to this user now: then each has a likelihood of 0."),
      campaigns: z.array(
        z.object({
          campaignId: z.string(),
          name: z.string(),
          priority: z.enum(campaignPriorities),
          exclusionReason: exclusionReason.optional().describe("Absent if the campaign may be chosen."),
          likelihood: z.number().describe("The probability that it is chosen now, 0 to 1."),
          behindPlan: z.number().optional().describe("Ads behind its plan of the day, negative if it is ahead."),
          missingFiles: z.array(z.string()).optional().describe("Files of its videos that this node lacks."),
        }),
      ),
    }),
  },
} as const satisfies OperatorRoutes;
