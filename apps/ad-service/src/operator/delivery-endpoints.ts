import { listEventsQuery, telegramId } from "@intermission/ad-core/client-api";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { readBot } from "../bots/rows.ts";
import { parseRequest } from "../parse-request.ts";
import { listDeliveries } from "../webhook-delivery/list-deliveries.ts";
import { listEvents } from "../webhook-delivery/list-events.ts";
import { showDelivery } from "../webhook-delivery/show-delivery.ts";
import { adviseOnAnswer } from "./advise-on-answer.ts";
import { unknownBot } from "./bot-endpoints.ts";
import { explainDelivery } from "./explain-delivery.ts";
import { invalid, unknownEvent } from "./refuse.ts";

const ofBot = z.object({ botId: telegramId });
export const eventIdParam = z.string().regex(/^[\w-]{1,64}$/, "must look like evt_…");
const ofEvent = z.object({ eventId: eventIdParam });
const deliveriesQuery = z.object({
  botId: telegramId.optional(),
  state: z.enum(["waiting", "sending", "delivered", "failed", "held", "unknown"]).optional(),
  before: eventIdParam.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
});

export function deliveryEndpoints(scope: FastifyInstance, { database }: { database: AdDatabase }): void {
  scope.get("/bots/:botId/events", async (request) => {
    const { botId } = parseRequest(ofBot, request.params);
    const { after, limit } = parseRequest(listEventsQuery, request.query);
    if (!(await readBot(database, botId))) throw unknownBot(botId);
    const page = await listEvents(database, { botId, after, limit });
    if (page.outcome === "bad-cursor") throw invalid("after is not a cursor of this feed");
    return { events: page.events, next: page.next, hasMore: page.hasMore };
  });

  scope.get("/deliveries", async (request) => {
    return { deliveries: await listDeliveries(database, parseRequest(deliveriesQuery, request.query)) };
  });

  scope.get("/deliveries/:eventId", async (request) => {
    const { eventId } = parseRequest(ofEvent, request.params);
    const delivery = await showDelivery(database, { eventId });
    if (!delivery) throw unknownEvent(eventId);
    const last = delivery.log.at(-1);
    return { ...delivery, explanation: explainDelivery(delivery), advice: last && adviseOnAnswer(last) };
  });
}
