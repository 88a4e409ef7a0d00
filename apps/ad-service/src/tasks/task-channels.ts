import type { ChannelRights, TaskUpdatesBy } from "@intermission/operator-api/tasks";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { holdAdvertiser } from "../advertisers/advertisers.ts";
import { type BotApiAnswer, callBotApi, type TaskBotCalls } from "./bot-api.ts";
import { callInChat } from "./call-in-chat.ts";
import { readChat, readMe, rightsIn } from "./telegram-answers.ts";

export interface TaskBot {
  taskBotId: string;
  username: string;
  channels: number;
  addedAt: Date;
  quietUntil: Date | null;
  updatesBy: TaskUpdatesBy;
  webhookSetAt: Date | null;
  webhookFault: string | null;
}

export interface TaskChannel {
  chatId: string;
  taskBotId: string;
  title: string;
  username: string | null;
  advertiserId: string | null;
  approvesRequests: boolean;
  rights: ChannelRights;
  checkedAt: Date;
}

const botColumns = `task_bot_id as "taskBotId", username, added_at as "addedAt",
  (select count(*) from task_channels where task_channels.task_bot_id = task_bots.task_bot_id)::integer as channels,
  case when quiet_until > now() then quiet_until end as "quietUntil", updates_by as "updatesBy",
  webhook_set_at as "webhookSetAt", webhook_fault as "webhookFault"`;
const channelColumns = `chat_id as "chatId", task_bot_id as "taskBotId", title, username,
  advertiser_id as "advertiserId", approves_requests as "approvesRequests", rights, checked_at as "checkedAt"`;

const selectBots = statement<TaskBot>(
  "tasks.list-bots",
  `select ${botColumns} from task_bots where task_bot_id > $1 order by task_bot_id limit $2`,
);
const findBot = statement<TaskBot>("tasks.find-bot", `select ${botColumns} from task_bots where task_bot_id = $1`);
const selectChannels = statement<TaskChannel>(
  "tasks.list-channels",
  `select ${channelColumns} from task_channels where chat_id > $1 and ($3::text is null or advertiser_id = $3)
   order by chat_id limit $2`,
);
const findChannel = statement<TaskChannel>(
  "tasks.find-channel",
  `select ${channelColumns} from task_channels where chat_id = $1`,
);
const putBot = statement<never>(
  "tasks.put-bot",
  `insert into task_bots (task_bot_id, username, token) values ($1, $2, $3)
   on conflict (task_bot_id) do update set username = excluded.username, token = excluded.token,
     -- The secret of the webhook comes from the token.
     webhook_set_at = null`,
);
const putChannel = statement<{ chatId: string }>(
  "tasks.put-channel",
  `insert into task_channels as known (chat_id, task_bot_id, title, username, approves_requests, rights, checked_at,
     advertiser_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (chat_id) do update set title = excluded.title, username = excluded.username,
     approves_requests = excluded.approves_requests, rights = excluded.rights, checked_at = excluded.checked_at,
     advertiser_id = coalesce(excluded.advertiser_id, known.advertiser_id)
   where known.task_bot_id = excluded.task_bot_id
     and ($9 or excluded.advertiser_id is null or known.advertiser_id = excluded.advertiser_id)
   returning chat_id as "chatId"`,
);
const storeRights = statement<never>(
  "tasks.set-rights",
  `update task_channels set rights = $2, checked_at = greatest(checked_at, $3)
   where chat_id = $1 and task_bot_id = $4 and checked_at < $3::timestamptz + interval '1 second'`,
);

interface PageOf {
  after?: string | undefined;
  limit: number;
}

export async function listTaskBots(database: Database, { after = "", limit }: PageOf) {
  const rows = await database.run(selectBots, [after, limit + 1]);
  const taskBots = rows.slice(0, limit);
  return { taskBots, next: rows.length > limit ? (taskBots.at(-1)?.taskBotId ?? null) : null };
}

export async function listTaskChannels(
  database: Database,
  { after = "", limit, advertiserId }: PageOf & { advertiserId?: string | undefined },
) {
  const rows = await database.run(selectChannels, [after, limit + 1, advertiserId]);
  const channels = rows.slice(0, limit);
  return { channels, next: rows.length > limit ? (channels.at(-1)?.chatId ?? null) : null };
}

export async function readTaskBot(database: Pick<Database, "run">, taskBotId: string): Promise<TaskBot | undefined> {
  return (await database.run(findBot, [taskBotId]))[0];
}

async function readTaskChannel(database: Pick<Database, "run">, chatId: string) {
  return (await database.run(findChannel, [chatId]))[0];
}

/**
 * Stores the task bot's rights in a chat as Telegram reports them, unless the chat is unknown or another task bot's. A webhook
 * may bring an older report after a newer one, and Telegram's times are whole seconds.
 */
export async function setRights(
  tx: Pick<Transaction, "run">,
  { chatId, taskBotId, rights, at }: Pick<TaskChannel, "chatId" | "taskBotId" | "rights"> & { at: Date },
): Promise<void> {
  await tx.run(storeRights, [chatId, rights, at, taskBotId]);
}

/** Why Telegram did not confirm something: as a sentence for the operator. */
function whyNot(answer: Exclude<BotApiAnswer, { outcome: "ok" }>): string {
  switch (answer.outcome) {
    case "refused":
      return `Telegram refuses: ${answer.description}`;
    case "busy":
      return `Telegram asks for a pause of ${answer.retryAfterSeconds} s`;
    case "unreachable":
      return `Telegram was not reached (${answer.reason})`;
    default:
      return answer satisfies never;
  }
}

type Added<Value> = { outcome: "added"; value: Value } | { outcome: "not-confirmed"; why: string };

const deaf = "Telegram's answer has another form than this version knows";

/** Adds a task bot, or replaces its token, after Telegram has confirmed the token. A new bot is polled. */
export async function addTaskBot(
  deps: TaskBotCalls,
  { token, author }: { token: string; author: Author | undefined },
): Promise<Added<TaskBot>> {
  const answer = await callBotApi(deps, { token, method: "getMe", fields: {} });
  if (answer.outcome !== "ok") return { outcome: "not-confirmed", why: whyNot(answer) };
  const me = readMe(answer.result);
  if (me === undefined) return { outcome: "not-confirmed", why: deaf };
  const { database, secretBox } = deps;
  const [known] = await database.run(findBot, [me.id]);
  if (known?.updatesBy !== "webhook") {
    // Telegram refuses polling while a webhook is set.
    const freed = await callBotApi(deps, { token, method: "deleteWebhook", fields: {} });
    if (freed.outcome !== "ok") return { outcome: "not-confirmed", why: whyNot(freed) };
  }
  await database.transaction(async (tx) => {
    const change = await openChange(tx, author, me.id);
    await tx.run(putBot, [me.id, me.username, secretBox.seal(token, me.id)]);
    await audit(tx, change);
  });
  const [added] = await database.run(findBot, [me.id]);
  if (added === undefined) throw new Error("the task bot disappeared while it was added");
  return { outcome: "added", value: added };
}

async function rightsOfBot(deps: TaskBotCalls, { taskBotId, chatId }: { taskBotId: string; chatId: string }) {
  const fields = { user_id: Number(taskBotId) };
  return rightsIn(await callInChat(deps, { taskBotId, chatId, method: "getChatMember", fields }));
}

interface NewChannel {
  taskBotId: string;
  /** The channel's id, @name, or link. */
  chat: string;
  approvesRequests: boolean;
  /** The owner; undefined: unchanged, or the operator for a new channel. */
  advertiserId: string | undefined;
  /** Only the operator may assign a known channel to another advertiser. */
  isOperator: boolean;
  author: Author | undefined;
  now: Date;
}

/** The Bot API's name of a chat. Links of a private channel have its id without `-100`, other links its name. */
export function chatIdIn(named: string): string {
  const [, privateId, name] = /t\.me\/(?:c\/(\d+)|(\w+))/.exec(named) ?? [];
  if (privateId !== undefined) return `-100${privateId}`;
  return name === undefined ? named : `@${name}`;
}

/** Per advertiser. */
export const MAX_CHANNELS = 100;
const countOthers = statement<{ count: number }>(
  "tasks.count-other-channels",
  "select count(*)::integer as count from task_channels where advertiser_id = $1 and chat_id <> $2",
);

async function hasTooManyChannels(tx: Transaction, advertiserId: string, chatId: string): Promise<boolean> {
  await holdAdvertiser(tx, advertiserId);
  return ((await tx.run(countOthers, [advertiserId, chatId]))[0]?.count ?? 0) >= MAX_CHANNELS;
}

export type AddChannelOutcome = Added<TaskChannel> | { outcome: "taken" | "not-ready" | "too-many" };

/**
 * Adds a channel that the task bot reaches, with the bot's current rights. An advertiser may add a channel only if the bot is an
 * administrator there: any other channel may have another owner.
 */
export async function addTaskChannel(
  deps: TaskBotCalls,
  { taskBotId, chat: named, approvesRequests, advertiserId, isOperator, author, now }: NewChannel,
): Promise<AddChannelOutcome> {
  const answer = await callInChat(deps, { taskBotId, chatId: chatIdIn(named), method: "getChat" });
  if (answer.outcome !== "ok") return { outcome: "not-confirmed", why: whyNot(answer) };
  const chat = readChat(answer.result);
  if (chat === undefined) return { outcome: "not-confirmed", why: deaf };
  const rights = await rightsOfBot(deps, { taskBotId, chatId: chat.id });
  if (!isOperator && rights !== "ready") return { outcome: "not-ready" };
  const seen = [chat.id, taskBotId, chat.title, chat.username ?? null, approvesRequests, rights, now];
  const outcome = await deps.database.transaction(async (tx) => {
    const change = await openChange(tx, author, chat.id);
    if (!isOperator && advertiserId !== undefined && (await hasTooManyChannels(tx, advertiserId, chat.id)))
      return "too-many";
    const stored = await tx.run(putChannel, [...seen, advertiserId ?? null, isOperator]);
    if (stored.length === 0) return "taken";
    await audit(tx, change);
    return "added";
  });
  if (outcome !== "added") return { outcome };
  const channel = await readTaskChannel(deps.database, chat.id);
  if (channel === undefined) throw new Error("the channel disappeared while it was added");
  return { outcome: "added", value: channel };
}

/** Asks Telegram again what the task bot may do. */
export async function checkTaskChannel(
  deps: TaskBotCalls,
  {
    chatId,
    advertiserId,
    author,
    now,
  }: { chatId: string; advertiserId: string | undefined; author: Author | undefined; now: Date },
): Promise<TaskChannel | undefined> {
  const channel = await readTaskChannel(deps.database, chatId);
  if (channel === undefined || (advertiserId !== undefined && channel.advertiserId !== advertiserId)) return undefined;
  const rights = await rightsOfBot(deps, channel);
  await deps.database.transaction(async (tx) => {
    const change = await openChange(tx, author, chatId);
    await setRights(tx, { ...channel, rights, at: now });
    await audit(tx, change);
  });
  return { ...channel, rights, checkedAt: now };
}
