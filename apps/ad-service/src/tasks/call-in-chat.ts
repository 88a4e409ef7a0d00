import type { ChannelRights } from "@intermission/operator-api/tasks";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type BotApiAnswer, callTaskBot, type TaskBotCalls } from "./bot-api.ts";
import { rightsIn } from "./telegram-answers.ts";

interface ChatCall {
  taskBotId: string;
  /** A stored channel's, or what an operator calls a new one. */
  chatId: string;
  method: string;
  fields?: object;
  signal?: AbortSignal | undefined;
}

/**
 * A call of a stored task bot about a chat. If the group has become a supergroup, its id is changed wherever it is stored, and the
 * call is made again.
 */
export async function callInChat(
  calls: TaskBotCalls,
  { taskBotId, chatId, method, fields = {}, signal }: ChatCall,
): Promise<BotApiAnswer> {
  const call = (id: string) => callTaskBot(calls, { taskBotId, method, fields: { chat_id: id, ...fields }, signal });
  const answer = await call(chatId);
  if (answer.outcome !== "refused" || answer.movedTo === undefined) return answer;
  const to = answer.movedTo;
  // In the old group the bot may have been reported as no administrator any more.
  const own = { chat_id: to, user_id: Number(taskBotId) };
  const rights = rightsIn(await callTaskBot(calls, { taskBotId, method: "getChatMember", fields: own, signal }));
  await moveChannel(calls.database, { taskBotId, from: chatId, to, rights });
  return call(to);
}

const lockChannels = statement<{ chatId: string; taskBotId: string }>(
  "tasks.lock-channels-to-move",
  `select chat_id as "chatId", task_bot_id as "taskBotId" from task_channels where chat_id in ($1, $2)
   order by chat_id for update`,
);
// In the order of codes, as reports lock them.
const lockTasks = statement<never>(
  "tasks.lock-tasks-to-move",
  "select from tasks where chat_id = $1 order by code for update",
);
const removeChannel = statement<never>("tasks.remove-moved-channel", "delete from task_channels where chat_id = $1");
const renameChannel = statement<never>(
  "tasks.rename-channel",
  "update task_channels set chat_id = $2, earlier_chat_id = $1, rights = $3 where chat_id = any ($4)",
);
const moveTasks = statement<never>("tasks.move-tasks", "update tasks set chat_id = $2 where chat_id = $1");
const moveCampaigns = statement<never>(
  "tasks.move-campaigns",
  "update campaigns set task_chat_id = $2 where task_chat_id = $1",
);

/**
 * A group has become a supergroup, whose id is another one: channel, tasks and campaigns follow in one transaction. Of several
 * nodes at once, the first moves it. An operator may have added the supergroup already, for the same task bot: its row stays.
 * Returns whether this call moved it.
 */
export async function moveChannel(
  database: Pick<Database, "transaction">,
  { taskBotId, from, to, rights }: { taskBotId: string; from: string; to: string; rights: ChannelRights },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const known = await tx.run(lockChannels, [from, to]);
    const [old, added] = [from, to].map((chatId) => known.find((one) => one.chatId === chatId));
    // A channel belongs to one task bot, and another bot's one is not taken.
    if (old?.taskBotId !== taskBotId || (added && added.taskBotId !== taskBotId)) return false;
    await tx.run(lockTasks, [from]);
    if (added) await tx.run(removeChannel, [from]);
    await tx.run(renameChannel, [from, to, rights, [added ? to : from]]);
    await tx.run(moveTasks, [from, to]);
    await tx.run(moveCampaigns, [from, to]);
    return true;
  });
}
