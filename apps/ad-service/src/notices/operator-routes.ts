import { fieldFault } from "@intermission/operator-api/field-forms";
import { noticeRoutes } from "@intermission/operator-api/notices";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { invalidField } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { listNoticeReceivers, setNoticeReceivers } from "./receivers.ts";

/** Who is told about the health of a bot's endpoint, for the operator. */
export function noticeOperatorRoutes(
  scope: CheckedScope,
  { database, requireBots }: { database: Database; requireBots: (botIds: readonly string[]) => Promise<void> },
): void {
  serveOperatorRoutes(scope, noticeRoutes, {
    async showNotices({ params: { botId } }) {
      await requireBots([botId]);
      return { botId, receivers: await listNoticeReceivers(database, botId) };
    },

    async setNotices({ params: { botId }, body, http }) {
      await requireBots([botId]);
      const { webhookUrl: webhook, email, telegramChatId: telegram } = body;
      const addresses = { webhook, email, telegram };
      const changed = await setNoticeReceivers(database, { botId, addresses, author: authorOf(http) });
      if (changed.outcome === "webhook-of-events") {
        const message = "must be another address than the bot's webhook: notices are not events";
        throw invalidField("webhookUrl", message, fieldFault("OTHER_ADDRESS_NEEDED"));
      }
      return { botId, receivers: changed.receivers };
    },
  });
}
