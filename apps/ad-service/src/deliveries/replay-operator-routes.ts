import { moment, telegramId } from "@intermission/ad-core/client-api";
import { parseRequest } from "@intermission/server/parse-request";
import { conflict, invalid } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { unknownBot } from "../bots/require-bots.ts";
import { countReplayable } from "./count-replayable.ts";
import type { Deliveries } from "./deliveries.ts";
import { explainBlockedReason } from "./explain-blocked-reason.ts";
import { findBotOfEvent, unknownEvent } from "./find-bot-of-event.ts";
import { eventIdParam } from "./operator-routes.ts";
import { type ReplayRefusal, replayDeliveries, replayRefusal } from "./replay-deliveries.ts";
import { type ReplayDeliveryOutcome, replayDelivery } from "./replay-delivery.ts";

const ofBot = z.object({ botId: telegramId });
const ofEvent = z.object({ eventId: eventIdParam });
const scope = z.enum(["failed", "everything"]);
const since = moment.transform((text) => new Date(text));
const counting = z.strictObject({ scope, since });
const batch = z.strictObject({ scope, since, until: since, after: eventIdParam.nullish() });

/** Replays: one event by its id, or a bot's events of a period. */
export function replayOperatorRoutes(
  app: FastifyInstance,
  deps: { database: AdDatabase; deliveries: Deliveries },
): void {
  const { database } = deps;
  app.post("/deliveries/:eventId/replay", async (request) => {
    const { eventId } = parseRequest(ofEvent, request.params);
    const botId = await findBotOfEvent(database, eventId);
    if (botId === undefined) throw unknownEvent(eventId);
    const replayed = await replayDelivery(deps, { botId, eventId });
    if (replayed.outcome !== "replayed") throw refusalOfOne(replayed, botId, eventId);
    return { eventId, botId, state: "waiting", notBefore: replayed.notBefore };
  });

  /** Counts what would be sent again. Its `until` is the present moment, so that events earned later are excluded. */
  app.get("/bots/:botId/replay", async (request) => {
    const { botId } = parseRequest(ofBot, request.params);
    const range = { botId, ...parseRequest(counting, request.query), until: new Date() };
    const refusal = await replayRefusal(database, range);
    if (refusal) throw refusalOfMany(refusal, botId);
    return { ...range, ...(await countReplayable(database, range)) };
  });

  /** Replays one batch; repeat it with its `next` as `after` until that is null. */
  app.post("/bots/:botId/replay", async (request) => {
    const { botId } = parseRequest(ofBot, request.params);
    const { after, ...range } = parseRequest(batch, request.body);
    const replayed = await replayDeliveries(deps, { botId, ...range, after: after ?? undefined });
    if (replayed.outcome !== "replayed") throw refusalOfMany(replayed, botId);
    return { replayed: replayed.replayed, next: replayed.next };
  });
}

function refusalOfOne(
  refused: Exclude<ReplayDeliveryOutcome, { outcome: "replayed" }>,
  botId: string,
  eventId: string,
) {
  if (refused.outcome === "held") return held(refused.blockedReason, botId);
  return {
    "under-way": () =>
      conflict("UNDER_WAY", `${eventId} is being sent; see the outcome with: deliveries show ${eventId}`),
    test: () => invalid(`${eventId} is a test; make another with: endpoints test ${botId}`),
    "unknown-event": () => unknownEvent(eventId),
  }[refused.outcome]();
}

function refusalOfMany(refused: ReplayRefusal, botId: string) {
  if (refused.outcome === "held") return held(refused.blockedReason, botId);
  if (refused.outcome === "unknown-bot") return unknownBot(botId);
  return conflict(
    "AT_MOST_ONCE",
    `bot ${botId} has its webhooks sent at most once: its receiver may pay twice for a repeated event. Send single events again, with: deliveries replay <event-id>`,
  );
}

function held(blockedReason: Parameters<typeof explainBlockedReason>[0], botId: string) {
  return conflict("HELD", `nothing is sent to bot ${botId} now: ${explainBlockedReason(blockedReason, botId)}`);
}
