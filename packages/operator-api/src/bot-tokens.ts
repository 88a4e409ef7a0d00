import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { newToken, tokenEntry } from "./bots.ts";
import { moment } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const params = z.object({ botId: telegramId });
const tokenParams = params.extend({ tokenId: z.string().regex(/^tok_[0-9A-Za-z]{1,40}$/, "must look like tok_…") });

/** Apart from the other routes of bots, whose forms load none of it. */
export const tokenRoutes = {
  createToken: {
    method: "POST",
    path: "/bots/:botId/tokens",
    access: { ...grants.staff, ...grants.ownBot },
    changes: "bot",
    description:
      "Creates the next API token of a bot, shown once; it authenticates immediately, and signs once activated.",
    params,
    status: 201,
    answer: tokenEntry.extend({ botId: z.string(), ...newToken }),
    refusals: [409],
  },
  activateToken: {
    method: "POST",
    path: "/bots/:botId/tokens/:tokenId/activate",
    access: { ...grants.staff, ...grants.ownBot },
    changes: "bot",
    description: "Makes the next token the signing one; the previous one is accepted for some days.",
    params: tokenParams,
    answer: z.object({
      botId: z.string(),
      tokenId: z.string(),
      state: z.literal("active"),
      retiring: tokenEntry
        .pick({ tokenId: true, lastUsedAt: true })
        .extend({ revokeAt: moment })
        .nullable()
        .describe("The previous one."),
    }),
    refusals: [409],
  },
  revokeToken: {
    method: "POST",
    path: "/bots/:botId/tokens/:tokenId/revoke",
    access: { ...grants.staff, ...grants.ownBot },
    changes: "bot",
    description: "Revokes a token.",
    params: tokenParams,
    answer: z.object({
      botId: z.string(),
      tokenId: z.string(),
      state: z.literal("revoked"),
      activatedTokenId: z.string().nullable().describe("The token that replaced it."),
      isLast: z.boolean().describe("Whether the bot has no token now, so that its events are held."),
      lastUsedAt: tokenEntry.shape.lastUsedAt,
    }),
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
