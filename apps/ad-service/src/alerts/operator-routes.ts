import { alertRoutes } from "@intermission/operator-api/alerts";
import type { Person } from "@intermission/operator-api/session";
import { listPage } from "@intermission/postgres/keyset";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import type { NoticeSettings } from "../notices/messages.ts";
import { readAlertSettings, setAlertSettings } from "./alert-settings.ts";
import { listAlerts, markAlertsRead, unreadAlerts } from "./read-alerts.ts";

interface AlertOperatorDeps {
  database: Database;
  /** Undefined: this process sends no messages. */
  notices?: Pick<NoticeSettings, "smtpUrl" | "telegramBotToken"> | undefined;
  /** The person of a request with a session. */
  personOf: (request: FastifyRequest) => Person;
  now: () => Date;
}

/** What the person who is signed in was told, and of what and where. */
export function alertOperatorRoutes(
  scope: CheckedScope,
  { database, notices, personOf, now }: AlertOperatorDeps,
): void {
  serveOperatorRoutes(scope, alertRoutes, {
    async listAlerts({ query, http }) {
      const { personId } = personOf(http);
      const rows = await listAlerts(database, { personId, after: query.after, limit: query.limit + 1 });
      const { rows: alerts, next } = listPage(rows, query.limit, ({ alertId }) => alertId);
      return { alerts, unread: await unreadAlerts(database, personId), next };
    },

    async markAlertsRead({ body: { upTo }, http }) {
      const { personId } = personOf(http);
      await markAlertsRead(database, { personId, upTo, now: now() });
      return { unread: await unreadAlerts(database, personId) };
    },

    showAlertSettings: ({ http }) => readAlertSettings(database, personOf(http), notices),

    async setAlertSettings({ body: change, http }) {
      const person = personOf(http);
      await setAlertSettings(database, { personId: person.personId, change, author: authorOf(http) });
      return readAlertSettings(database, person, notices);
    },
  });
}
