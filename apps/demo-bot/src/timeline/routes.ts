import type { ShowOutcome } from "@intermission/publisher/in-app";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { userOf } from "../read-request.ts";
import type { Timeline } from "./read-timeline.ts";
import { cheats } from "./steps.ts";
import type { ViewRecords } from "./view-records.ts";

export interface TimelineRoutesOptions {
  readonly views: ViewRecords;
  readonly timelineOf: (userId: string) => Promise<Timeline>;
  readonly now: () => Date;
}

const showOutcomes = Object.keys({
  credited: true,
  watched: true,
  skipped: true,
  "closed-early": true,
  "no-ad": true,
  limited: true,
  refused: true,
  unavailable: true,
} satisfies Record<ShowOutcome, true>) as ShowOutcome[];

/** What only the page beside the frame can see. */
const seenStep = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("first-frame") }),
  z.strictObject({ kind: z.literal("shown"), outcome: z.enum(showOutcomes) }),
  z.strictObject({ kind: z.literal("cheat"), cheat: z.enum(cheats) }),
]);

/** The timeline of the user's latest view. */
export function timelineRoutes(app: FastifyInstance, { views, timelineOf, now }: TimelineRoutesOptions): void {
  app.get("/timeline/:userId", async (request, reply) => {
    reply.header("cache-control", "no-store");
    const userId = userOf(request);
    try {
      return { outcome: "known", ...(await timelineOf(userId)) };
    } catch (error) {
      request.log.debug({ err: error }, "the timeline is unknown: the ad service or the backend did not answer");
      return { outcome: "unknown" };
    }
  });

  app.post("/timeline/:userId", async (request, reply) => {
    const step = parseRequest(seenStep, request.body);
    views.add(userOf(request), { ...step, at: now().toISOString() });
    return reply.code(204).send();
  });
}
