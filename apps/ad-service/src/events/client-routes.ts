import { type ListEventsResponse, listEventsResponse } from "@intermission/ad-core/client-api";
import { listEventsQuery } from "@intermission/ad-core/listed-event";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { HttpError } from "@intermission/server/http-server";
import { callerOf } from "../bots/authenticate-client.ts";
import { type EventsPage, listEndOfEvents, listEvents } from "./list-events.ts";

const lostCursor =
  "this service was restored from a backup that is older than the cursor: read the feed from its start, and skip the event ids that you have";

const listEventsOperation = {
  operationId: "listEvents",
  description: "Lists every event since a cursor, or the latest ones, in the order of commits, without gaps.",
  querystring: listEventsQuery,
  response: { 200: listEventsResponse, ...refusals(410) },
};

interface EventRouteDeps {
  database: Database;
  /** The currency of all prices (ISO 4217). */
  currency: string;
}

/** The feed of a bot's events, for its publisher. */
export function eventClientRoutes(scope: CheckedScope, { database, currency }: EventRouteDeps): void {
  scope.get("/events", { schema: listEventsOperation }, async (request) => {
    const { after, limit, latest } = request.query;
    const { botId, includeRevenue, sendsInterstitials } = callerOf(request).bot;
    const of = { botId, worth: { includeRevenue, currency }, hasInterstitials: sendsInterstitials };
    if (latest !== undefined) return listEventsAnswer(await listEndOfEvents(database, { ...of, latest }));
    const page = await listEvents(database, { ...of, after, limit });
    if (page.outcome === "bad-cursor") throw new HttpError(400, "BAD_REQUEST", "after is not a cursor of this feed");
    if (page.outcome === "lost-cursor") throw new HttpError(410, "CURSOR_LOST", lostCursor);
    return listEventsAnswer(page);
  });
}

function listEventsAnswer(page: Extract<EventsPage, { outcome: "page" }>): ListEventsResponse {
  return { events: page.events, next: page.next, has_more: page.hasMore };
}
