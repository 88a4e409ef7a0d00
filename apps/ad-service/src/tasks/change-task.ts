import { newEventId } from "@intermission/ad-core/code";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { randomBytes } from "@intermission/server/random-bytes";
import { type Charge, selectTerms, worthOf } from "../campaigns/event-worth.ts";
import { refundEvent } from "../campaigns/refund-charge.ts";
import { enqueueWebhook } from "../deliveries/enqueue-webhook.ts";
import { webhookBody } from "../deliveries/webhook-body.ts";
import { judgeTask, type Task, type TaskFact, type TaskMove, type TaskVerdict } from "./judge-task.ts";
import { readRoom } from "./task-budget.ts";

/** A task with what its events and its calls name. */
export interface StoredTask extends Omit<Task, "hasBudget"> {
  code: string;
  botId: string;
  campaignId: string;
  /** Null for a task to start a bot. */
  chatId: string | null;
  startBot: string | null;
  reference: string | null;
  isTest: boolean;
  priceMicros: number;
  openedAt: Date | null;
  memberSince: Date | null;
}

const columns = `code, bot_id as "botId", user_id as "userId", campaign_id as "campaignId", chat_id as "chatId", start_bot as "startBot", reference,
  is_test as "isTest", price_micros::float8 as "priceMicros", state, paid_at as "paidAt", hold_days as "holdDays",
  expires_at as "expiresAt", opened_at as "openedAt", joined_at as "joinedAt", held_until as "heldUntil", left_at as "leftAt", is_paid as "isPaid",
  invite_link is not null as "hasLink", was_out as "wasOut", member_since as "memberSince", exists (
    select from tasks as other where other.user_id = tasks.user_id and other.campaign_id = tasks.campaign_id
      and other.joined_at is not null and other.code <> tasks.code) as "hasJoinedBefore"`;

const lockOne = statement<StoredTask>("tasks.lock", `select ${columns} from tasks where code = $1 for update`);
// In the order of codes, so that two reports about the same tasks do not deadlock.
const lockConcerned = statement<StoredTask & { isOwnLink: boolean }>(
  "tasks.lock-concerned",
  `with channel as (
     select chat_id from task_channels where (chat_id = $1 or earlier_chat_id = $1) and task_bot_id = $4 limit 1
   )
   select ${columns}, invite_link is not distinct from $3 and $3::text is not null as "isOwnLink" from tasks
   where code in (
     select code from tasks where chat_id = (select chat_id from channel) and user_id = $2
     union select code from tasks where chat_id = (select chat_id from channel) and invite_link = $3
   ) order by code for update`,
);

export async function lockTask(tx: Transaction, code: string): Promise<StoredTask | undefined> {
  return (await tx.run(lockOne, [code]))[0];
}

/**
 * Locks the tasks that a change of membership may concern: the user's tasks in this chat, and the task of the link. Channels of
 * other task bots are excluded: Telegram shows this bot only a part of their links. A report may name a group by its id from before
 * it became a supergroup.
 */
export async function lockTasksOf(
  tx: Transaction,
  taskBotId: string,
  { chatId, userId, inviteLink }: { chatId: string; userId: string; inviteLink: string | undefined },
) {
  return tx.run(lockConcerned, [chatId, userId, inviteLink ?? null, taskBotId]);
}

/** SQL: Telegram keeps updates for a day, so that no report of a join comes later. Then the row is removed. */
export const LAPSED_KEPT = "interval '2 days'";

/** A link is of no use once its task is over, or its user is in. */
const write = statement<never>(
  "tasks.move",
  `update tasks set state = $2, void_reason = $3, proof = coalesce(proof, $4), joined_at = $5, held_until = $6, left_at = $7,
     opened_at = case when $2 = 'opened' then $9 else opened_at end,
     kept_at = case when $2 = 'kept' then $9 else kept_at end,
     is_paid = is_paid or coalesce($8::text, '') = 'task',
     is_reversed = is_reversed or coalesce($8::text, '') = 'task_reversed',
     due_at = case $2 when 'opened' then expires_at + interval '1 minute' when 'held' then $6::timestamptz
       when 'lapsed' then $9::timestamptz + ${LAPSED_KEPT} end,
     call = case when $2 = 'opened' then call when invite_link is not null and state in ('offered', 'opened') then 'revoke'
       else call end,
     call_due_at = case when $2 = 'opened' then call_due_at
       when invite_link is not null and state in ('offered', 'opened') then $9 else call_due_at end,
     call_attempts = 0
   where code = $1`,
);
const rememberLeave = statement<never>("tasks.remember-leave", "update tasks set left_at = $2 where code = $1");

const readTerms = statement<Omit<Charge, "priceMicros">>(
  "tasks.read-terms",
  `select include_revenue as "includeRevenue", ${selectTerms} from bots where bot_id = $1`,
);
const makeEvent = statement<{ eventId: string }>(
  "tasks.make-event",
  `with earned as (
    select $1::text as bot_id, $2::text as event_id, $3::text as event, $4::text as user_id, $5::text as code,
      $6::text as reference, $7::boolean as is_test, $8::text as campaign_id, null::text as creative_id,
      $9::bigint as price_micros, $10::bigint as revenue_micros, $11::timestamptz as occurred_at, $12::text as body
  ), ${enqueueWebhook({ from: "earned" })}
  select event_id as "eventId" from enqueued`,
);
const findPaid = statement<{ eventId: string }>(
  "tasks.find-paid",
  `select event_id as "eventId" from events where code = $1 and bot_id = $2 and event = 'task'`,
);

/**
 * Applies a fact to a task whose row the transaction has locked: the state, its event with the charge or the refund, and the
 * delivery commit together. Wake the deliveries after the commit.
 */
export async function applyFact(tx: Transaction, task: StoredTask, fact: TaskFact, now: Date): Promise<TaskVerdict> {
  const isLate = fact.kind === "joined" && task.state === "lapsed";
  const { hasBudget } = isLate ? await readRoom(tx, task, now) : { hasBudget: true };
  const verdict = judgeTask({ ...task, hasBudget }, fact);
  if (verdict.outcome === "stays") {
    if (verdict.leftAt !== undefined) await tx.run(rememberLeave, [task.code, verdict.leftAt]);
    return verdict;
  }
  const { state, voidReason, proof, joinedAt, heldUntil, leftAt, event } = verdict;
  await tx.run(write, [task.code, state, voidReason, proof, joinedAt, heldUntil, leftAt, event, now]);
  if (event !== null) await writeEvent(tx, task, event, now);
  return verdict;
}

async function writeEvent(tx: Transaction, task: StoredTask, event: NonNullable<TaskMove["event"]>, now: Date) {
  const { code, botId, userId, campaignId, reference, isTest } = task;
  const [terms] = await tx.run(readTerms, [botId]);
  if (terms === undefined) throw new Error(`bot ${botId} has no row`);
  const priceMicros = event === "task" ? task.priceMicros : null;
  const { fields: worth, ...charged } = worthOf({ ...terms, priceMicros }, { isTest });
  const eventId = newEventId(now.getTime(), randomBytes(10));
  const body = webhookBody({ event, eventId, botId, userId, code, reference, at: now, worth, isTest });
  const money = [charged.priceMicros, charged.revenueMicros];
  const values = [botId, eventId, event, userId, code, reference, isTest, campaignId, ...money, now, body];
  if ((await tx.run(makeEvent, values)).length === 0) throw new Error(`task ${code} has earned ${event} before`);
  if (event === "task") return;
  const [paid] = await tx.run(findPaid, [code, botId]);
  if (paid !== undefined) await refundEvent(tx, { eventId: paid.eventId, botId, now });
}

const isTaken = (error: unknown) =>
  error instanceof Error && "constraint" in error && error.constraint === "tasks_joined_once";

/**
 * Runs a transaction that applies facts. Two joins of one user for one campaign, through two bots at once, cannot both be
 * stored: the second one is judged again, and then knows of the first.
 */
export async function withFacts<Result>(
  database: Pick<Database, "transaction">,
  run: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  try {
    return await database.transaction(run);
  } catch (error) {
    if (!isTaken(error)) throw error;
    return database.transaction(run);
  }
}
