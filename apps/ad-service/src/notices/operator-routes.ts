import { telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { invalidField } from "@intermission/server/refuse";
import { z } from "zod";
import { callableAddress } from "../outbound/callable-address.ts";
import { listNoticeReceivers, setNoticeReceivers } from "./receivers.ts";

const ofBot = z.object({ botId: telegramId });
const addresses = z
  .strictObject({
    webhookUrl: callableAddress.nullable(),
    email: z.email("must be an e-mail address such as ops@example.com").max(254).nullable(),
    telegramChatId: z
      .string()
      .regex(
        /^-?[1-9][0-9]{0,19}$|^@[A-Za-z]\w{3,31}$/,
        "must be the id of a chat, such as -1001234567890, or its @name",
      )
      .nullable(),
  })
  .partial()
  .meta({ examples: [{ webhookUrl: "https://ops.example.com/endpoint-health", email: "ops@example.com" }] });

const operations = {
  show: {
    operationId: "showNotices",
    description: "Returns the addresses that are told when the endpoint of a bot fails, recovers or is disabled.",
    params: ofBot,
  },
  set: {
    operationId: "setNotices",
    description: "Sets these addresses, one for each channel; null removes one.",
    params: ofBot,
    body: addresses,
    response: { 200: z.unknown(), ...refusals(404) },
  },
};

/** Who is told about the health of a bot's endpoint, for the operator. */
export function noticeOperatorRoutes(
  scope: CheckedScope,
  { database, requireBots }: { database: Database; requireBots: (botIds: readonly string[]) => Promise<void> },
): void {
  scope.get("/bots/:botId/notices", { schema: operations.show }, async ({ params: { botId } }) => {
    await requireBots([botId]);
    return { botId, receivers: await listNoticeReceivers(database, botId) };
  });

  scope.patch("/bots/:botId/notices", { schema: operations.set }, async ({ params: { botId }, body }) => {
    await requireBots([botId]);
    const { webhookUrl: webhook, email, telegramChatId: telegram } = body;
    const changed = await setNoticeReceivers(database, { botId, addresses: { webhook, email, telegram } });
    if (changed.outcome === "webhook-of-events")
      throw invalidField("webhookUrl", "must be another address than the bot's webhook: notices are not events");
    return { botId, receivers: changed.receivers };
  });
}
