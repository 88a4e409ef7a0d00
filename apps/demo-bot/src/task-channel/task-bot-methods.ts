import { z } from "zod";
import { BotApiRefusal } from "../channel/bot-api-refusal.ts";
import { type BotApiFields, parse, type ServedBot } from "../own-bot/bot-api-call.ts";
import { requireChat, type TaskChannel } from "./task-channel.ts";

const MAX_POLL_SECONDS = 50;

const oneChat = z.object({ chat_id: z.string().min(1) });
const oneMember = oneChat.extend({ user_id: z.string().regex(/^[1-9][0-9]{0,15}$/) });
const newLink = oneChat.extend({
  name: z.string().max(32, "invite link name is too long"),
  expire_date: z.coerce.number().int(),
  member_limit: z.coerce.number().int().min(1).optional(),
});
const oneLink = oneChat.extend({ invite_link: z.url() });
const poll = z.object({
  offset: z.coerce.number().int().default(0),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  timeout: z.coerce.number().int().min(0).default(0),
});

type Method = (fields: BotApiFields, call: { readonly signal: AbortSignal; readonly origin: string }) => unknown;

/** The task bot of the demo: the methods of Telegram's Bot API that tasks use, about one channel whose administrator it is. */
export function taskBot(channel: TaskChannel, token: string): ServedBot {
  const methods = new Map(Object.entries(methodsOf(channel, token.split(":", 1)[0] ?? "")));
  return {
    token,
    methodOf(name) {
      const run = methods.get(name);
      return run && (async ({ fields, ...call }) => run(fields, call));
    },
  };
}

function methodsOf(channel: TaskChannel, botId: string): Record<string, Method> {
  const bot = { id: Number(botId), is_bot: true, first_name: "Coin Garden tasks", username: "coin_garden_tasks_bot" };
  return {
    getMe: () => bot,
    deleteWebhook: () => true,
    getUpdates(fields, { signal }) {
      const { offset, limit, timeout } = parse(poll, fields);
      return channel.poll({ offset, limit, timeoutMs: Math.min(timeout, MAX_POLL_SECONDS) * 1000 }, signal);
    },
    getChat(fields) {
      requireChat(channel, parse(oneChat, fields).chat_id);
      return channel.chat;
    },
    getChatMember(fields) {
      const { chat_id: chatId, user_id: userId } = parse(oneMember, fields);
      requireChat(channel, chatId);
      if (userId === botId) return { status: "administrator", can_invite_users: true, user: bot };
      return channel.memberOf(userId);
    },
    createChatInviteLink(fields, { origin }) {
      const { chat_id: chatId, name, expire_date, member_limit } = parse(newLink, fields);
      requireChat(channel, chatId);
      return channel.addLink({ name, expire_date, member_limit }, (hash) => `${origin}/join?link=${hash}`);
    },
    revokeChatInviteLink(fields) {
      const { chat_id: chatId, invite_link } = parse(oneLink, fields);
      requireChat(channel, chatId);
      const link = channel.findLink(new URL(invite_link).searchParams.get("link") ?? "");
      if (link === undefined) throw new BotApiRefusal("INVITE_HASH_EXPIRED");
      link.is_revoked = true;
      return link;
    },
  };
}
