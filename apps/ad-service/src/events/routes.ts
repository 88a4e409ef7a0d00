import {
  type ListEventsResponse,
  listEventsQuery,
  listEventsResponse,
  listedEvent,
  telegramId,
} from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { HttpError } from "@intermission/server/http-server";
import { invalidField } from "@intermission/server/refuse";
import { z } from "zod";
import { callerOf } from "../bots/authenticate-client.ts";
import { requireBots } from "../bots/bots.ts";
import { type EventsPage, listEvents } from "./list-events.ts";

const lostCursor =
  "this service was restored from a backup that is older than the cursor: read the feed from its start, and skip the event ids that you have";

const listEventsOperation = {
  operationId: "listEvents",
  description: "Lists every event since a cursor, in the order of commits, without gaps.",
  querystring: listEventsQuery,
  response: { 200: listEventsResponse, ...refusals(410) },
};

/** The feed of a bot's events, for its publisher. */
export function eventClientRoutes(scope: CheckedScope, { database }: { database: Database }): void {
  scope.get("/events", { schema: listEventsOperation }, async (request) => {
    const { after, limit } = request.query;
    const page = await listEvents(database, { botId: callerOf(request).bot.botId, after, limit });
    if (page.outcome === "bad-cursor") throw new HttpError(400, "BAD_REQUEST", "after is not a cursor of this feed");
    if (page.outcome === "lost-cursor") throw new HttpError(410, "CURSOR_LOST", lostCursor);
    return listEventsAnswer(page);
  });
}

function listEventsAnswer(page: Extract<EventsPage, { outcome: "page" }>): ListEventsResponse {
  return { events: page.events, next: page.next, has_more: page.hasMore };
}

const listEventsOfBot = {
  operationId: "listEventsOfBot",
  description: "Lists a bot's events since a cursor, as its publisher sees them.",
  params: z.object({ botId: telegramId }),
  querystring: listEventsQuery,
  response: { 200: z.object({ events: z.array(listedEvent), next: z.string(), hasMore: z.boolean() }) },
};

/** The same feed, for the operator. */
export function eventOperatorRoutes(scope: CheckedScope, { database }: { database: Database }): void {
  scope.get("/bots/:botId/events", { schema: listEventsOfBot }, async (request) => {
    const { botId } = request.params;
    const { after, limit } = request.query;
    await requireBots(database, [botId]);
    const page = await listEvents(database, { botId, after, limit });
    if (page.outcome === "bad-cursor") throw invalidField("after", "is not a cursor of this feed");
    if (page.outcome === "lost-cursor") {
      throw invalidField("after", "is a cursor from after the restored backup: list the events from their start");
    }
    return { events: page.events, next: page.next, hasMore: page.hasMore };
  });
}
