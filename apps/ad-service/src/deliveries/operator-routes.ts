import { listEventsQuery, telegramId } from "@intermission/ad-core/client-api";
import { listLimit, parseRequest } from "@intermission/server/parse-request";
import { invalidField } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { requireBots } from "../bots/require-bots.ts";
import { listEvents } from "../events/list-events.ts";
import { adviseOnAnswer } from "./advise-on-answer.ts";
import { explainDelivery } from "./explain-delivery.ts";
import { unknownEvent } from "./find-bot-of-event.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { showDelivery } from "./show-delivery.ts";

const ofBot = z.object({ botId: telegramId });
export const eventIdParam = z.string().regex(/^[\w-]{1,64}$/, "must look like evt_…");
const ofEvent = z.object({ eventId: eventIdParam });
const deliveriesQuery = z.object({
  botId: telegramId.optional(),
  state: z.enum(["waiting", "sending", "delivered", "failed", "held", "unknown"]).optional(),
  before: eventIdParam.optional(),
  limit: listLimit,
});

export function deliveryOperatorRoutes(scope: FastifyInstance, { database }: { database: AdDatabase }): void {
  scope.get("/bots/:botId/events", async (request) => {
    const { botId } = parseRequest(ofBot, request.params);
    const { after, limit } = parseRequest(listEventsQuery, request.query);
    await requireBots(database, [botId]);
    const page = await listEvents(database, { botId, after, limit });
    if (page.outcome === "bad-cursor") throw invalidField("after", "is not a cursor of this feed");
    if (page.outcome === "lost-cursor") {
      throw invalidField("after", "is a cursor from after the restored backup: list the events from their start");
    }
    return { events: page.events, next: page.next, hasMore: page.hasMore };
  });

  scope.get("/deliveries", async (request) => {
    const query = parseRequest(deliveriesQuery, request.query);
    await requireBots(database, [query.botId]);
    return { deliveries: await listDeliveries(database, query) };
  });

  scope.get("/deliveries/:eventId", async (request) => {
    const { eventId } = parseRequest(ofEvent, request.params);
    const delivery = await showDelivery(database, { eventId });
    if (!delivery) throw unknownEvent(eventId);
    const last = delivery.log.at(-1);
    return { ...delivery, explanation: explainDelivery(delivery), advice: last && adviseOnAnswer(last) };
  });
}
