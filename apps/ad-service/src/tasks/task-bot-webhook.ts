import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { TaskUpdatesBy } from "@intermission/operator-api/tasks";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { statement } from "@intermission/postgres/open-database";
import { type BotApiAnswer, callTaskBot, type TaskBotCalls, tokenOf } from "./bot-api.ts";
import { allowedUpdates, readWebhook } from "./telegram-answers.ts";

export interface WebhookCalls extends TaskBotCalls {
  publicUrl: string;
}

/** So many of Telegram's calls run at once: each waits for the one row of its bot. */
const MAX_CONNECTIONS = 4;
/** Telegram repeats an update for a day. */
const KEPT = "interval '2 days'";
/** While the operator's request sets a webhook, no node does the same. */
const SETTING_SECONDS = 15;
/** What Telegram says about its calls is asked for this often, and whether somebody else has set another webhook. */
export const WEBHOOK_CHECK_SECONDS = 300;

/** It is derived from the bot's token, so that it changes with it and is stored nowhere. */
function webhookSecret(token: string): string {
  return createHmac("sha256", token).update("secret_token of a task bot").digest("base64url");
}

/** Whether a call has the secret that Telegram was given, in constant time. */
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
 * Chooses how Telegram's updates come. The choice is stored first: from then on no node deletes the webhook that is being set. If
 * Telegram refuses, the choice is taken back; while it is away, the nodes go on trying. Telegram keeps what was not confirmed in
 * either way, so that nothing is lost.
 */
export async function setUpdatesBy(
  deps: WebhookCalls,
  { taskBotId, updatesBy, author }: { taskBotId: string; updatesBy: TaskUpdatesBy; author: Author | undefined },
): Promise<{ outcome: "set" } | { outcome: "refused"; why: string }> {
  await changeMode(deps, { taskBotId, updatesBy, author });
  switch (updatesBy) {
    case "polling":
      // The next reading of the updates does the same if this fails.
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

/** Of a bot that is read by polling: a webhook would keep the updates from it. What was not delivered stays in Telegram's list. */
export async function deleteWebhook(deps: TaskBotCalls, taskBotId: string, signal?: AbortSignal): Promise<void> {
  const [bot] = await deps.database.run(readMode, [taskBotId]);
  if (bot?.updatesBy !== "polling") return;
  const fields = { drop_pending_updates: false };
  await callTaskBot(deps, { taskBotId, method: "deleteWebhook", fields, signal });
}

/** Sets the webhook again where it is not the one of this service, and stores what Telegram says of its calls. */
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
