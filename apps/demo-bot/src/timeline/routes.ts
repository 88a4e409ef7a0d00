import { telegramId } from "@intermission/ad-core/wire-fields";
import { HttpError } from "@intermission/server/http-server";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Timeline } from "./read-timeline.ts";
import { cheats } from "./steps.ts";
import type { ViewRecords } from "./view-records.ts";

export interface TimelineRoutesOptions {
  readonly views: ViewRecords;
  readonly timelineOf: (userId: string) => Promise<Timeline>;
  readonly now: () => Date;
}

/** What only the page beside the frame can see. */
const seenStep = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("first-frame") }),
  z.strictObject({ kind: z.literal("cheat"), cheat: z.enum(cheats) }),
]);

/** The timeline of the user's latest view. */
export function timelineRoutes(app: FastifyInstance, { views, timelineOf, now }: TimelineRoutesOptions): void {
  app.get<{ Params: { userId: string } }>("/timeline/:userId", async (request, reply) => {
    reply.header("cache-control", "no-store");
    const userId = userOf(request.params);
    try {
      return { outcome: "known", ...(await timelineOf(userId)) };
    } catch (error) {
      request.log.debug({ err: error }, "the timeline is unknown: the ad service or the backend did not answer");
      return { outcome: "unknown" };
    }
  });

  app.post<{ Params: { userId: string } }>("/timeline/:userId", async (request, reply) => {
    const step = seenStep.safeParse(request.body);
    if (!step.success) throw new HttpError(400, "BAD_REQUEST", z.prettifyError(step.error));
    views.add(userOf(request.params), { ...step.data, at: now().toISOString() });
    return reply.code(204).send();
  });
}

function userOf({ userId }: { userId: string }): string {
  const parsed = telegramId.safeParse(userId);
  if (parsed.success) return parsed.data;
  throw new HttpError(400, "BAD_REQUEST", "userId is not a Telegram user id");
}
