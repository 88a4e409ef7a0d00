import { eventRoutes } from "@intermission/operator-api/events";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { invalidField } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { readBot, requireBots, unknownBot } from "../bots/bots.ts";
import { listEvents, listLatestEvents } from "./list-events.ts";

/** The same feed, for the operator, and the latest events, always with what they are worth. */
export function eventOperatorRoutes(
  scope: CheckedScope,
  { database, currency }: { database: Database; currency: string },
): void {
  serveOperatorRoutes(scope, eventRoutes, {
    async listLatestEventsOfBot(request) {
      const { botId } = request.params;
      const { limit, from, to, ...of } = request.query;
      if (from !== undefined && to !== undefined && from >= to)
        throw invalidField("from", "must be before the end", fieldFault("END_BEFORE_START"));
      await requireBots(database, [botId]);
      const worth = { includeRevenue: true, currency };
      const events = await listLatestEvents(database, { botId, ...of, from, to, limit: limit + 1, worth });
      return { events: events.slice(0, limit), hasMore: events.length > limit };
    },

    async listEventsOfBot(request) {
      const { botId } = request.params;
      const { after, limit } = request.query;
      const bot = await readBot(database, botId);
      if (bot === undefined) throw unknownBot(botId);
      const worth = { includeRevenue: bot.includeRevenue, currency };
      const page = await listEvents(database, { botId, after, limit, worth });
      if (page.outcome === "bad-cursor")
        throw invalidField("after", "is not a cursor of this feed", fieldFault("CURSOR"));
      if (page.outcome === "lost-cursor") {
        const message = "is a cursor from after the restored backup: list the events from their start";
        throw invalidField("after", message, fieldFault("CURSOR"));
      }
      return { events: page.events, next: page.next, hasMore: page.hasMore };
    },
  });
}
