import { eventType, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { viewerBlock } from "./explain.ts";
import { moment } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { codeVerdict, timelineEntry } from "./timeline.ts";

const params = z.object({ botId: telegramId, userId: telegramId });

const records = z.object({
  botId: z.string(),
  userId: z.string(),
  isErased: z.boolean(),
  undelivered: z.int().describe("Webhooks that were cancelled, or would be."),
  tables: z.array(z.object({ table: z.string(), becomes: z.string(), rows: z.int() })),
});

const found = z.object({
  kind: z.enum(["user", "code", "view", "click", "event"]).describe("What the text is."),
  botId: z.string(),
  userId: z.string(),
  code: z.string().nullable().describe("Null: the text names the user as a whole, or an event without a code."),
});
export type FoundTimeline = z.output<typeof found>;

export const userRoutes = {
  findTimelines: {
    method: "GET",
    path: "/timelines",
    access: grants.readers,
    description: "Finds the users and codes that an id names: of a user, a code, a view, a click or an event.",
    query: z.object({ text: z.string().trim().min(1).max(128) }),
    answer: z.object({ found: z.array(found) }),
  },
  readTimelineOfUser: {
    method: "GET",
    path: "/bots/:botId/users/:userId/timeline",
    access: grants.readers,
    description: "What happened to the latest codes of a user, from the code to the answered webhook, in order.",
    params,
    query: z.object({ codes: z.coerce.number().int().min(1).max(100).default(10) }),
    answer: z.object({
      botId: z.string(),
      userId: z.string(),
      isTester: z.boolean(),
      earnedToday: z.int(),
      dailyCap: z.int(),
      cooldownSeconds: z.int(),
      lastEarnedAt: moment.nullable(),
      currency: z.string(),
      blocked: viewerBlock.nullable().describe("Why this user is shown no ad at all now; null: nothing keeps them."),
      codes: z
        .array(
          z.object({ code: z.string().nullable().describe("Null: requests without a code."), verdict: codeVerdict }),
        )
        .describe("What became of each code of these entries, the latest first."),
      hasOlder: z.boolean().describe("Whether the user has more codes than these entries name."),
      isComplete: z.boolean().describe("False if the search for codes that were never used took too long."),
      entries: z.array(timelineEntry),
    }),
  },
  readTimelineOfCode: {
    method: "GET",
    path: "/codes/:code",
    access: grants.readers,
    description: "What happened to a code, from its issue to the answered webhook, in order.",
    params: z.object({ code: z.string().max(64) }),
    answer: z.object({
      code: z.string(),
      botId: z.string(),
      userId: z.string(),
      reference: z.string().nullable(),
      joinTitle: z.string().nullable().describe("The channel or group that a view lets the user into; null: none."),
      issuedAt: moment,
      expiresAt: moment,
      isExpired: z.boolean(),
      verdict: codeVerdict.describe("What became of it."),
      earned: z.array(eventType),
      currency: z.string(),
      entries: z.array(timelineEntry),
    }),
  },
  countRecordsOfUser: {
    method: "GET",
    path: "/bots/:botId/users/:userId",
    access: grants.staff,
    description: "Counts what is stored of a user, without erasing it.",
    params,
    answer: records,
    refusals: [409],
  },
  eraseUser: {
    method: "DELETE",
    path: "/bots/:botId/users/:userId",
    access: grants.staff,
    changes: "bot",
    description: "Erases what is stored of a user; the statistics keep their sums.",
    params,
    answer: records,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
