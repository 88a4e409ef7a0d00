import type { TaskUpdatesBy } from "@intermission/operator-api/tasks";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import type { Deliveries } from "../deliveries/enqueue-webhook.ts";
import { callTaskBot, type TaskBotCalls } from "./bot-api.ts";
import { applyFact, lockTasksOf, type StoredTask, withFacts } from "./change-task.ts";
import { deleteWebhook, keepWebhook, WEBHOOK_CHECK_SECONDS, type WebhookCalls } from "./task-bot-webhook.ts";
import { setRights } from "./task-channels.ts";
import { allowedUpdates, readUpdates, type TaskNews, type TaskUpdate } from "./telegram-answers.ts";

/** One node reads a bot's updates, since Telegram refuses two readers. After this time another one may. */
const LEASE_SECONDS = 30;
/** How long Telegram waits for an update before it answers that there is none. */
const POLL_SECONDS = 5;
/** At most so many updates at once: each is a transaction. */
const MAX_UPDATES = 100;

/** What could not be read is asked for again after this pause. */
const AFTER_FAULT_MS = 5000;
const NOT_READ = -1;

/**
 * After a week without updates Telegram numbers the next one anew, at random (Bot API, Update). All before have been confirmed
 * by then, so that any number is the next one.
 */
const nextUpdate = "(case when moved_at > now() - interval '6 days' then next_update else 0 end)";

interface FollowedBot {
  taskBotId: string;
  nextUpdate: number;
  updatesBy: TaskUpdatesBy;
  /** Telegram has confirmed the webhook. */
  isSet: boolean;
}

const claim = statement<FollowedBot>(
  "tasks.follow-bots",
  `update task_bots set follower = $1, followed_until = now() + interval '${LEASE_SECONDS} seconds'
   where (follower = $1 or followed_until < now()) and quiet_until < now() and (updates_by = 'polling'
     or coalesce(webhook_set_at, '-infinity') < now() - interval '${WEBHOOK_CHECK_SECONDS} seconds')
   returning task_bot_id as "taskBotId", ${nextUpdate}::float8 as "nextUpdate", updates_by as "updatesBy",
     webhook_set_at is not null as "isSet"`,
);
const release = statement<never>(
  "tasks.unfollow-bots",
  "update task_bots set followed_until = '-infinity' where follower = $1",
);
// The lock of the row keeps a node whose lease is over, and the one that has followed it, from applying an update together.
const lockPlace = statement<{ nextUpdate: number }>(
  "tasks.lock-place",
  `select ${nextUpdate}::float8 as "nextUpdate" from task_bots where task_bot_id = $1 for update`,
);
const isKnown = statement<never>(
  "tasks.is-update-known",
  "select from task_updates where task_bot_id = $1 and update_id = $2",
);
const keepUpdate = statement<{ updateId: number }>(
  "tasks.keep-update",
  `insert into task_updates (task_bot_id, update_id) values ($1, $2) on conflict do nothing
   returning update_id::float8 as "updateId"`,
);
const movePlace = statement<never>(
  "tasks.move-place",
  "update task_bots set next_update = $2, moved_at = now() where task_bot_id = $1",
);

export interface TaskDeps extends TaskBotCalls {
  deliveries: Pick<Deliveries, "wake">;
  log: Pick<FastifyBaseLogger, "info" | "warn" | "error">;
  now: () => Date;
}

/**
 * Reads the updates of all task bots until it is stopped, and keeps the webhooks of those that Telegram calls; any number of nodes
 * may run it. An update and its place commit together: after a crash Telegram sends again what was not applied, and nothing is
 * applied twice.
 */
export function startFollowingTaskBots(
  deps: TaskDeps & WebhookCalls & { node: string; everyMs?: number },
): BackgroundLoop {
  const { database, node, log, everyMs = 1000 } = deps;
  return startLoop({
    everyMs,
    async round(stopping) {
      try {
        const bots = await database.run(claim, [node]);
        const followOne = (bot: FollowedBot) =>
          follow[bot.updatesBy](deps, bot, stopping).catch((err: unknown) => {
            // Of one bot: the others are read on.
            log.error({ err, taskBotId: bot.taskBotId }, "updates of a task bot could not be applied; trying again");
            return NOT_READ;
          });
        const applied = await Promise.all(bots.map(followOne));
        if (applied.some((count) => count > 0)) return 0;
        return applied.includes(NOT_READ) ? AFTER_FAULT_MS : undefined;
      } finally {
        if (stopping.aborted) await database.run(release, [node]);
      }
    },
    onFault: (error) => log.error({ err: error }, "updates of task bots could not be applied; trying again"),
  });
}

const follow: Record<
  TaskUpdatesBy,
  (deps: TaskDeps & WebhookCalls, bot: FollowedBot, stopping: AbortSignal) => Promise<number>
> = { polling: followBot, webhook: keepBot };

async function keepBot(deps: WebhookCalls, bot: FollowedBot, stopping: AbortSignal): Promise<number> {
  try {
    await keepWebhook(deps, bot, stopping);
  } catch (error) {
    if (!stopping.aborted) throw error;
  }
  return NOT_READ;
}

async function followBot(
  deps: TaskDeps,
  { taskBotId, nextUpdate }: FollowedBot,
  stopping: AbortSignal,
): Promise<number> {
  const fields = { offset: nextUpdate, limit: MAX_UPDATES, timeout: POLL_SECONDS, allowed_updates: allowedUpdates };
  const answer = await callTaskBot(deps, { taskBotId, method: "getUpdates", fields, signal: stopping }).catch(
    (error: unknown) => {
      if (stopping.aborted) return undefined;
      throw error;
    },
  );
  if (answer === undefined) return 0;
  const updates = answer.outcome === "ok" ? readUpdates(answer.result) : undefined;
  if (updates === undefined) {
    // The updates themselves have invite links.
    const why = answer.outcome === "ok" ? { outcome: "unknown-form" } : answer;
    // Another webhook is set, or this service's webhook is not yet deleted.
    if (answer.outcome === "refused" && answer.status === 409 && /webhook/i.test(answer.description))
      await deleteWebhook(deps, taskBotId);
    if (answer.outcome !== "busy") deps.log.warn({ taskBotId, answer: why }, "a task bot's updates could not be read");
    return NOT_READ;
  }
  let applied = 0;
  for (const update of updates) {
    // What was not applied before the stop is sent again.
    if (stopping.aborted) break;
    if (await applyUpdate(deps, taskBotId, update)) applied += 1;
  }
  return applied;
}

/**
 * Applies an update once, and returns whether it did. By polling they come in order, so that one before the place was applied
 * before. A webhook brings them in any order (`isPushed`): each is kept by its number, and the place stays.
 */
export async function applyUpdate(
  deps: TaskDeps,
  taskBotId: string,
  { updateId, news, isPushed = false }: TaskUpdate & { isPushed?: boolean },
): Promise<boolean> {
  const { isApplied, changed } = await withFacts(deps.database, async (tx) => {
    const [place] = await tx.run(lockPlace, [taskBotId]);
    const known = { isApplied: false, changed: false };
    if (place === undefined || updateId < place.nextUpdate) return known;
    const isNew = isPushed
      ? (await tx.run(keepUpdate, [taskBotId, updateId])).length > 0
      : (await tx.run(isKnown, [taskBotId, updateId])).length === 0;
    await tx.run(movePlace, [taskBotId, isPushed ? place.nextUpdate : updateId + 1]);
    if (!isNew) return known;
    return { isApplied: true, changed: await applyNews(tx, taskBotId, news, deps.now()) };
  });
  if (changed) deps.deliveries.wake();
  return isApplied;
}

const approve = statement<never>(
  "tasks.approve",
  "update tasks set call = 'approve', call_due_at = $2, call_attempts = 0 where code = $1 and state = 'opened'",
);

/** Whether something changed that makes events. */
async function applyNews(tx: Transaction, taskBotId: string, news: TaskNews, now: Date): Promise<boolean> {
  switch (news.kind) {
    case "other":
      return false;
    case "rights":
      await setRights(tx, { ...news, taskBotId });
      return false;
    case "requested":
      // Requests of other users, and by other links, are left to the administrators.
      for (const task of await lockTasksOf(tx, taskBotId, news))
        if (task.isOwnLink && task.userId === news.userId) await tx.run(approve, [task.code, now]);
      return false;
    case "joined":
    case "left":
    case "removed":
      for (const task of await lockTasksOf(tx, taskBotId, news)) {
        const fact = factOf(news, task);
        if (fact !== undefined) await applyFact(tx, task, fact, now);
      }
      return true;
    default:
      return news satisfies never;
  }
}

function factOf(
  { kind, userId, at }: Extract<TaskNews, { kind: "joined" | "left" | "removed" }>,
  task: StoredTask & { isOwnLink: boolean },
) {
  if (kind !== "joined") return task.userId === userId ? { kind, at } : undefined;
  if (task.isOwnLink) return { kind, userId, at };
  return { kind: "joined-otherwise" as const, at };
}
