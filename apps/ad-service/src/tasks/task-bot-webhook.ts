import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { TaskUpdatesBy } from "@intermission/operator-api/tasks";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { statement } from "@intermission/postgres/open-database";
import { type BotApiAnswer, callTaskBot, type TaskBotCalls, tokenOf } from "./bot-api.ts";
import { allowedUpdates, readWebhook } from "./telegram-answers.ts";

export interface WebhookCalls extends TaskBotCalls {
  publicUrl: string;
}

/** Telegram's parallel calls for one bot. More do not help, since each waits for the row of its bot. */
const MAX_CONNECTIONS = 4;
/** Telegram repeats an update for a day. */
const KEPT = "interval '2 days'";
/** No node sets a webhook while an operator's request sets it. */
const SETTING_SECONDS = 15;
/** The interval at which a node reads the state of Telegram's calls, and checks for another webhook. */
export const WEBHOOK_CHECK_SECONDS = 300;

/** The secret is derived from the bot's token, so it changes with the token and is not stored. */
function webhookSecret(token: string): string {
  return createHmac("sha256", token).update("secret_token of a task bot").digest("base64url");
}

/** Compares the secret of a call in constant time. */
export function isSecret(sent: unknown, token: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(typeof sent === "string" ? sent : ""), digest(webhookSecret(token)));
}

const addressOf = ({ publicUrl }: WebhookCalls, taskBotId: string) => `${publicUrl}/task-bot-updates/${taskBotId}`;

const readMode = statement<{ updatesBy: TaskUpdatesBy }>(
  "tasks.read-updates-by",
  `select updates_by as "updatesBy" from task_bots where task_bot_id = $1`,
);
const storeMode = statement<never>(
  "tasks.set-updates-by",
  `update task_bots set updates_by = $2, webhook_set_at = null, webhook_fault = null, follower = null,
     followed_until = case $2 when 'webhook' then now() + interval '${SETTING_SECONDS} seconds' else '-infinity' end
   where task_bot_id = $1`,
);
const storeSet = statement<never>(
  "tasks.webhook-is-set",
  "update task_bots set webhook_set_at = now(), webhook_fault = $2 where task_bot_id = $1 and updates_by = 'webhook'",
);
const storeFault = statement<never>(
  "tasks.webhook-is-not-set",
  "update task_bots set webhook_fault = $2 where task_bot_id = $1 and updates_by = 'webhook'",
);
const forget = statement<never>(
  "tasks.forget-updates",
  `delete from task_updates where task_bot_id = $1 and applied_at < now() - ${KEPT}`,
);

/**
 * Switches a task bot between polling and webhook. The choice is stored first, so that no node deletes the webhook that is being
 * set. If Telegram refuses, the choice is reverted; while Telegram is unreachable, the nodes retry. Telegram keeps unconfirmed
 * updates in both ways, so that no update is lost.
 */
export async function setUpdatesBy(
  deps: WebhookCalls,
  { taskBotId, updatesBy, author }: { taskBotId: string; updatesBy: TaskUpdatesBy; author: Author | undefined },
): Promise<{ outcome: "set" } | { outcome: "refused"; why: string }> {
  await changeMode(deps, { taskBotId, updatesBy, author });
  switch (updatesBy) {
    case "polling":
      // If this fails, the next poll deletes the webhook.
      await deleteWebhook(deps, taskBotId);
      return { outcome: "set" };
    case "webhook": {
      const answer = await setWebhook(deps, taskBotId);
      if (answer.outcome !== "refused") return { outcome: "set" };
      await changeMode(deps, { taskBotId, updatesBy: "polling", author });
      return { outcome: "refused", why: answer.description };
    }
    default:
      return updatesBy satisfies never;
  }
}

async function changeMode(
  { database }: WebhookCalls,
  { taskBotId, updatesBy, author }: { taskBotId: string; updatesBy: TaskUpdatesBy; author: Author | undefined },
): Promise<void> {
  await database.transaction(async (tx) => {
    const change = await openChange(tx, author, taskBotId);
    await tx.run(storeMode, [taskBotId, updatesBy]);
    await audit(tx, change);
  });
}

async function setWebhook(deps: WebhookCalls, taskBotId: string, signal?: AbortSignal): Promise<BotApiAnswer> {
  const fields = {
    url: addressOf(deps, taskBotId),
    secret_token: webhookSecret(await tokenOf(deps, taskBotId)),
    allowed_updates: allowedUpdates,
    max_connections: MAX_CONNECTIONS,
  };
  const answer = await callTaskBot(deps, { taskBotId, method: "setWebhook", fields, signal });
  if (answer.outcome === "ok") await deps.database.run(storeSet, [taskBotId, null]);
  else await deps.database.run(storeFault, [taskBotId, faultIn(answer)]);
  return answer;
}

function faultIn(answer: Exclude<BotApiAnswer, { outcome: "ok" }>): string {
  if (answer.outcome === "refused") return answer.description.slice(0, 200);
  return answer.outcome === "busy" ? "Telegram asks for a pause" : `Telegram was not reached: ${answer.reason}`;
}

/** Deletes the webhook of a polled bot, since it would block polling. Telegram keeps undelivered updates. */
export async function deleteWebhook(deps: TaskBotCalls, taskBotId: string, signal?: AbortSignal): Promise<void> {
  const [bot] = await deps.database.run(readMode, [taskBotId]);
  if (bot?.updatesBy !== "polling") return;
  const fields = { drop_pending_updates: false };
  await callTaskBot(deps, { taskBotId, method: "deleteWebhook", fields, signal });
}

/** Sets the webhook again if it is not this service's, and stores what Telegram reports about its calls. */
export async function keepWebhook(
  deps: WebhookCalls,
  { taskBotId, isSet }: { taskBotId: string; isSet: boolean },
  signal: AbortSignal,
): Promise<void> {
  await deps.database.run(forget, [taskBotId]);
  const answer = isSet
    ? await callTaskBot(deps, { taskBotId, method: "getWebhookInfo", fields: {}, signal })
    : undefined;
  const info = answer?.outcome === "ok" ? readWebhook(answer.result) : undefined;
  if (info?.url !== addressOf(deps, taskBotId)) {
    if (answer === undefined || info !== undefined) await setWebhook(deps, taskBotId, signal);
    return;
  }
  const isFailing = info.pending_update_count > 0;
  await deps.database.run(storeSet, [taskBotId, (isFailing && info.last_error_message?.slice(0, 200)) || null]);
}
