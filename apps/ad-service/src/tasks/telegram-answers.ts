import { TELEGRAM_ID } from "@intermission/ad-core/wire-fields";
import type { ChannelRights } from "@intermission/operator-api/tasks";
import { z } from "zod";
import type { BotApiAnswer } from "./bot-api.ts";
import type { Membership } from "./judge-task.ts";

const id = z.int().transform(String);
const user = z.object({ id: id.refine((text) => TELEGRAM_ID.test(text)) });
const chat = z.object({ id, title: z.string().default(""), username: z.string().optional() });
const member = z.object({
  status: z.string(),
  is_member: z.boolean().optional(),
  can_invite_users: z.boolean().optional(),
  user: user.optional(),
});
type Member = z.output<typeof member>;

/** Whether a member of this status is in the chat. Undefined: a status that this version does not know. */
function isIn({ status, is_member }: Member): boolean | undefined {
  switch (status) {
    case "creator":
    case "administrator":
    case "member":
      return true;
    case "restricted":
      return is_member === true;
    case "left":
    case "kicked":
      return false;
    default:
      return undefined;
  }
}

/** Telegram's answer to `getChatMember`. Each error is `unknown`, and never done. */
export function membershipIn(answer: BotApiAnswer): Membership {
  const read = answer.outcome === "ok" ? member.safeParse(answer.result) : undefined;
  const isMember = read?.success ? isIn(read.data) : undefined;
  if (isMember === undefined) return "unknown";
  if (isMember) return "in";
  return read?.data?.status === "kicked" ? "banned" : "out";
}

/**
 * Whether a task may be offered to a user, by the answer to `getChatMember`. `unmet`: Telegram does not know the user for this bot,
 * as of most who never wrote to it; then only a reported join counts, which names the status before it.
 */
export function offerableIn(answer: BotApiAnswer): "out" | "unmet" | "not" {
  if (answer.outcome === "refused" && /user not found|PARTICIPANT_ID_INVALID/i.test(answer.description)) return "unmet";
  const read = answer.outcome === "ok" ? member.safeParse(answer.result) : undefined;
  // Who was banned could not join.
  return read?.success && isIn(read.data) === false && read.data.status !== "kicked" ? "out" : "not";
}

/** What the bot may do in a chat, by the answer to `getChatMember` about itself. */
export function rightsIn(answer: BotApiAnswer): ChannelRights {
  if (answer.outcome === "refused") return "not-admin";
  const read = answer.outcome === "ok" ? member.safeParse(answer.result) : undefined;
  return read?.success ? rightsOf(read.data) : "unknown";
}

function rightsOf({ status, can_invite_users }: Member): ChannelRights {
  if (status === "creator") return "ready";
  if (status !== "administrator") return "not-admin";
  return can_invite_users === true ? "ready" : "cannot-invite";
}

const chatAnswer = chat.extend({ title: z.string().min(1).max(256) });
export const readChat = (result: unknown) => chatAnswer.safeParse(result).data;

const botAnswer = z.object({ id, username: z.string().min(1) });
export const readMe = (result: unknown) => botAnswer.safeParse(result).data;

const linkAnswer = z.object({ invite_link: z.url().max(512) });
export const readLink = (result: unknown) => linkAnswer.safeParse(result).data?.invite_link;

const link = z.object({ invite_link: z.string() }).optional();
const changedMember = z.object({
  chat,
  from: user,
  date: z.int(),
  old_chat_member: member,
  new_chat_member: member.extend({ user }),
  invite_link: link,
});
const update = z.object({
  update_id: z.int().nonnegative(),
  chat_member: changedMember.optional(),
  my_chat_member: changedMember.optional(),
  chat_join_request: z.object({ chat, from: user, date: z.int(), invite_link: link }).optional(),
});

/** The updates that a task bot asks for: `chat_member` comes only to bots that name it. */
export const allowedUpdates = ["chat_member", "my_chat_member", "chat_join_request"] as const;

/** What an update reports. */
export type TaskNews =
  /** `removed`: by somebody else than the user. */
  | { kind: "joined" | "left" | "removed"; chatId: string; userId: string; at: Date; inviteLink: string | undefined }
  | { kind: "requested"; chatId: string; userId: string; at: Date; inviteLink: string | undefined }
  | { kind: "rights"; chatId: string; rights: ChannelRights; at: Date }
  /** Nothing that tasks depend on, or a form that this version does not know. */
  | { kind: "other" };

export interface TaskUpdate {
  updateId: number;
  news: TaskNews;
}

const updateList = z.array(z.looseObject({ update_id: z.int().nonnegative() }));

/** The answer to `getUpdates`; undefined if it is none. An update of an unknown form is `other`, and blocks nothing. */
export function readUpdates(result: unknown): TaskUpdate[] | undefined {
  const read = updateList.safeParse(result);
  return read.data?.map((one) => ({ updateId: one.update_id, news: newsIn(one) }));
}

/** Parses an update that Telegram sends to a webhook; undefined if the body is no update. */
export function readUpdate(body: unknown): TaskUpdate | undefined {
  return readUpdates([body])?.[0];
}

const webhookInfo = z.object({
  url: z.string(),
  pending_update_count: z.int(),
  last_error_message: z.string().optional(),
});
export const readWebhook = (result: unknown) => webhookInfo.safeParse(result).data;

function newsIn(value: unknown): TaskNews {
  const { data } = update.safeParse(value);
  const request = data?.chat_join_request;
  if (request) {
    const { chat, from, date, invite_link } = request;
    return {
      kind: "requested",
      chatId: chat.id,
      userId: from.id,
      at: atOf(date),
      inviteLink: invite_link?.invite_link,
    };
  }
  const own = data?.my_chat_member;
  if (own) return { kind: "rights", chatId: own.chat.id, rights: rightsOf(own.new_chat_member), at: atOf(own.date) };
  const change = data?.chat_member;
  if (!change) return { kind: "other" };
  const [before, after] = [isIn(change.old_chat_member), isIn(change.new_chat_member)];
  if (before === undefined || after === undefined || before === after) return { kind: "other" };
  const userId = change.new_chat_member.user.id;
  return {
    kind: after ? "joined" : change.from.id === userId ? "left" : "removed",
    chatId: change.chat.id,
    userId,
    at: atOf(change.date),
    inviteLink: change.invite_link?.invite_link,
  };
}

const atOf = (seconds: number) => new Date(seconds * 1000);
