import { eventsSinceCursor, listedEvent } from "@intermission/ad-core/listed-event";
import { momentInput, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { listLimit } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const params = z.object({ botId: telegramId });

export const eventRoutes = {
  listLatestEventsOfBot: {
    method: "GET",
    path: "/bots/:botId/events/latest",
    access: { ...grants.readers, ...grants.ownBot },
    description: "Lists a bot's events, the newest first, of one user or a period.",
    params,
    query: z.object({
      userId: telegramId.optional(),
      from: momentInput.optional(),
      to: momentInput.optional(),
      before: z.string().max(64).optional().describe("The event id at which an earlier list ended."),
      limit: listLimit,
    }),
    answer: z.object({ events: z.array(listedEvent), hasMore: z.boolean() }),
  },
  listEventsOfBot: {
    method: "GET",
    path: "/bots/:botId/events",
    access: { ...grants.readers, ...grants.ownBot },
    description: "Lists a bot's events since a cursor, as its publisher sees them.",
    params,
    query: eventsSinceCursor,
    answer: z.object({ events: z.array(listedEvent), next: z.string(), hasMore: z.boolean() }),
  },
} as const satisfies OperatorRoutes;
