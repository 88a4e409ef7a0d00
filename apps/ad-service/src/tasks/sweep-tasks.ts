import { statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { BotApiAnswer } from "./bot-api.ts";
import { callInChat } from "./call-in-chat.ts";
import { applyFact, lockTask, withFacts } from "./change-task.ts";
import type { TaskDeps } from "./follow-updates.ts";
import { isOpen, type Membership, type TaskFact, type TaskVerdict } from "./judge-task.ts";
import { membershipIn } from "./telegram-answers.ts";

const EVERY_MS = 1000;
/** Telegram allows some 30 calls a second to a bot; openings and offers need some of them. */
const MAX_AT_ONCE = 10;
/** For the time after a claim, another node leaves the row alone: longer than a call can last. */
const LEASE_SECONDS = 60;
/** When Telegram does not answer, it is asked again after so long. */
const ASK_AGAIN_SECONDS = 300;
const MAX_CALL_ATTEMPTS = 12;

/** What is still to be told to Telegram about a task. */
export type TaskCall = "approve" | "revoke";

interface DueTask {
  code: string;
  state: string;
  /** Both are null for a task to start a bot, which needs no request to Telegram. */
  taskBotId: string | null;
  chatId: string | null;
  userId: string;
  memberSince: Date | null;
}

const dueColumns = `tasks.code, state, member_since as "memberSince", tasks.chat_id as "chatId", user_id as "userId",
  (select task_bot_id from task_channels where task_channels.chat_id = tasks.chat_id) as "taskBotId"`;

const claimDue = statement<DueTask>(
  "tasks.claim-due",
  `with due as (
     select code from tasks where due_at <= $1 order by due_at limit ${MAX_AT_ONCE} for update skip locked
   )
   update tasks set due_at = $1::timestamptz + interval '${LEASE_SECONDS} seconds'
   from due where tasks.code = due.code returning ${dueColumns}`,
);
const askAgain = statement<never>(
  "tasks.ask-again",
  `update tasks set due_at = $2::timestamptz + interval '${ASK_AGAIN_SECONDS} seconds' where code = $1 and due_at is not null`,
);
const claimCalls = statement<DueTask & { call: TaskCall; inviteLink: string | null; attempts: number }>(
  "tasks.claim-calls",
  `with due as (
     select code from tasks where call is not null and call_due_at <= $1 order by call_due_at limit ${MAX_AT_ONCE}
     for update skip locked
   )
   update tasks set call_due_at = $1::timestamptz + interval '${LEASE_SECONDS} seconds', call_attempts = call_attempts + 1
   from due where tasks.code = due.code
   returning ${dueColumns}, call, invite_link as "inviteLink", call_attempts as attempts`,
);
const endCall = statement<never>(
  "tasks.end-call",
  "update tasks set call = null, call_due_at = null where code = $1 and call = $2",
);
const delayCall = statement<never>(
  "tasks.delay-call",
  "update tasks set call_due_at = $3, call_attempts = call_attempts - $4 where code = $1 and call = $2",
);

/**
 * Ends offers and holds whose time has come, approves requests and revokes links, until it is stopped. What waits stands in the
 * rows of tasks, so that nothing is kept in memory; each round takes a few, and any number of nodes may run it.
 */
export function startSweepingTasks(deps: TaskDeps & { everyMs?: number }): BackgroundLoop {
  const { everyMs = EVERY_MS, log } = deps;
  return startLoop({
    everyMs,
    round: async (signal) => ((await sweepTasks({ ...deps, signal })) ? 0 : undefined),
    onFault: (error) => log.error({ err: error }, "tasks could not be ended; trying again"),
  });
}

/** What the end of the loop breaks off, the claims bring back. */
type SweepDeps = TaskDeps & { signal?: AbortSignal };

/** One round. Returns whether more may be due that needs no call. */
export async function sweepTasks(deps: SweepDeps): Promise<boolean> {
  const { database, log, now, signal } = deps;
  const one = (code: string, work: Promise<void>) =>
    work.catch((err: unknown) => {
      if (signal?.aborted !== true) log.error({ err, code }, "a task could not be ended; trying again");
    });
  const due = await database.run(claimDue, [now()]);
  await Promise.all(due.map((task) => one(task.code, endTask(deps, task))));
  if (signal?.aborted) return false;
  const calls = await database.run(claimCalls, [now()]);
  await Promise.all(calls.map((call) => one(call.code, makeCall(deps, call))));
  // Telegram allows so many calls a second, not so many at once.
  return due.length === MAX_AT_ONCE && calls.length === 0 && !due.some(needsAnswer);
}

/** Whether Telegram has to say if the user is a member. */
function needsAnswer({ state, memberSince }: DueTask): boolean {
  return state === "held" || (state === "opened" && memberSince !== null);
}

const removeLapsed = statement<never>("tasks.remove-lapsed", "delete from tasks where code = $1 and state = 'lapsed'");

async function endTask(deps: SweepDeps, task: DueTask): Promise<void> {
  const { code, state } = task;
  if (state === "lapsed") {
    await deps.database.run(removeLapsed, [code]);
    return;
  }
  const membership = needsAnswer(task) ? await askMembership(deps, task) : undefined;
  const verdict = await apply(deps, code, membership);
  if (verdict?.outcome === "stays") await deps.database.run(askAgain, [code, deps.now()]);
}

async function askMembership(
  deps: SweepDeps,
  { taskBotId, chatId, userId }: Pick<DueTask, "taskBotId" | "chatId" | "userId">,
): Promise<Membership> {
  if (taskBotId === null || chatId === null) return "unknown";
  const fields = { user_id: Number(userId) };
  const call = { taskBotId, chatId, method: "getChatMember", fields, signal: deps.signal };
  return membershipIn(await callInChat(deps, call));
}

/** Applies what Telegram says of the user, and then, where that changed nothing, that the offer has ended. */
async function apply(
  { database, deliveries, now }: TaskDeps,
  code: string,
  membership: Membership | undefined,
): Promise<TaskVerdict | undefined> {
  const at = now();
  const verdict = await withFacts(database, async (tx) => {
    const task = await lockTask(tx, code);
    if (task === undefined) return undefined;
    const isOffer = isOpen(task);
    const checked: TaskFact[] =
      membership === undefined ? [] : [{ kind: "checked", membership, at: (isOffer && task.memberSince) || at }];
    const facts: TaskFact[] = isOffer ? [...checked, { kind: "expired", at }] : checked;
    let last: TaskVerdict | undefined;
    for (const fact of facts) {
      last = await applyFact(tx, task, fact, at);
      if (last.outcome === "moves") break;
    }
    return last;
  });
  if (verdict?.outcome === "moves" && verdict.event !== null) deliveries.wake();
  return verdict;
}

const rememberMember = statement<never>(
  "tasks.remember-member",
  `update tasks set member_since = $2, due_at = $2::timestamptz + interval '1 minute'
   where code = $1 and state = 'opened' and member_since is null and expires_at >= $2 and was_out`,
);

/**
 * Asks Telegram about the user of an opened task, whose join no update has reported. A member counts a minute later, unless a
 * report says by then that another link was used.
 */
export async function checkTask(deps: TaskDeps, task: DueTask): Promise<void> {
  if (task.state !== "opened" || task.memberSince !== null || task.chatId === null) return;
  if ((await askMembership(deps, task)) === "in") await deps.database.run(rememberMember, [task.code, deps.now()]);
}

const readDue = statement<DueTask>("tasks.read-due", `select ${dueColumns} from tasks where code = $1 and bot_id = $2`);

export async function findTask(
  database: TaskDeps["database"],
  { code, botId }: { code: string; botId: string },
): Promise<DueTask | undefined> {
  return (await database.run(readDue, [code, botId]))[0];
}

async function makeCall(
  deps: SweepDeps,
  { code, call, attempts, ...of }: DueTask & { call: TaskCall; inviteLink: string | null; attempts: number },
): Promise<void> {
  const { database, log, now, signal } = deps;
  const { taskBotId, chatId, userId, inviteLink } = of;
  if (taskBotId === null || chatId === null) throw new Error(`task ${code} has no channel`);
  const [method, fields] =
    call === "approve"
      ? ["approveChatJoinRequest", { user_id: Number(userId) }]
      : ["revokeChatInviteLink", { invite_link: inviteLink }];
  const answer = await callInChat(deps, { taskBotId, chatId, method, fields, signal });
  if (isOver(answer)) {
    await database.run(endCall, [code, call]);
    return;
  }
  const isPaused = answer.outcome === "busy";
  if (!isPaused && attempts >= MAX_CALL_ATTEMPTS) {
    log.warn({ code, call, answer }, "a call to Telegram about a task is given up");
    await database.run(endCall, [code, call]);
    return;
  }
  const pause = answer.outcome === "busy" ? answer.retryAfterSeconds : Math.min(2 ** attempts, 3600);
  // A pause that Telegram asks for is no attempt.
  await database.run(delayCall, [code, call, new Date(now().getTime() + pause * 1000), isPaused ? 1 : 0]);
}

/** Done, or nothing is left to be done: the request was answered, the link is gone. */
function isOver(answer: BotApiAnswer): boolean {
  if (answer.outcome === "ok") return true;
  return (
    answer.outcome === "refused" &&
    /USER_ALREADY_PARTICIPANT|HIDE_REQUESTER_MISSING|INVITE_HASH_EXPIRED|INVITE_HASH_INVALID/.test(answer.description)
  );
}
