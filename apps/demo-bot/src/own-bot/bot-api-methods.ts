import { z } from "zod";
import { BotApiRefusal } from "../channel/bot-api-refusal.ts";
import type { Reply } from "../scenario/chat-port.ts";
import { type BotApiCall, type BotApiFields, parse, requireMiniapp } from "./bot-api-call.ts";
import { joinMethods } from "./join-methods.ts";
import { type OwnBot, userChat } from "./own-bot.ts";
import { isLoopbackAddress, TelegramWebhook } from "./telegram-webhook.ts";

/** Bot libraries send JSON, or forms whose fields hold JSON. Throws if the body is neither. */
export async function readFields(body: Buffer, contentType: string): Promise<BotApiFields> {
  if (body.length === 0) return {};
  const fields: [string, unknown][] = contentType.startsWith("application/json")
    ? Object.entries(JSON.parse(body.toString()))
    : [...(await new Response(Uint8Array.from(body), { headers: { "content-type": contentType } }).formData())];
  return textFields(fields);
}

function textFields(fields: readonly [string, unknown][]): BotApiFields {
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

const MAX_POLL_SECONDS = 50;

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue("is not JSON");
    return z.NEVER;
  }
});
const label = z.string().min(1).max(200);
const webApp = z.object({ url: z.url() });
const inlineButton = z.union([
  z.object({ text: label, web_app: webApp }),
  z.object({ text: label, url: z.url({ protocol: /^https?$/ }) }),
  z.object({ text: label, callback_data: z.string().min(1).max(64) }),
]);
const replyButton = z.union([z.string(), z.looseObject({ text: label, web_app: webApp.optional() })]);
const keyboards = z.object({
  inline_keyboard: z.array(z.array(inlineButton).max(8)).max(20).optional(),
  keyboard: z.array(z.array(replyButton).max(8)).max(20).optional(),
  remove_keyboard: z.boolean().optional(),
  one_time_keyboard: z.boolean().optional(),
  input_field_placeholder: z.string().min(1).max(64).optional(),
});
const oneChat = z.object({ chat_id: z.string().regex(/^[1-9][0-9]{0,15}$/, "is not a user of this chat") });
const newMessage = oneChat.extend({
  text: z.string().min(1).max(4096),
  reply_markup: json.pipe(keyboards).optional(),
});
const poll = z.object({
  offset: z.coerce.number().int().default(0),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  timeout: z.coerce.number().int().min(0).default(0),
});

const newWebhook = z.object({
  url: z
    .string()
    .refine(
      (url) => url === "" || isLoopbackAddress(url),
      "must be an address of this machine, such as http://127.0.0.1:3000/telegram",
    ),
  secret_token: z
    .string()
    .regex(/^[\w-]{1,256}$/, "has 1 to 256 characters A-Z, a-z, 0-9, _ and -")
    .optional(),
});
const noWebhook = { url: "", has_custom_certificate: false, pending_update_count: 0 };

const accept = async () => true;

/** The methods of Telegram's Bot API that this chat has. */
const botApiMethods: Readonly<Record<string, (call: BotApiCall) => Promise<unknown>>> = {
  getMe: async ({ bot }) => ({
    ...bot.user,
    can_join_groups: false,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    supports_join_request_queries: true,
  }),
  getUpdates({ bot, fields, signal }) {
    if (bot.updates.webhook)
      throw new BotApiRefusal("can't use getUpdates method while webhook is active; use deleteWebhook first", 409);
    const { offset, limit, timeout } = parse(poll, fields);
    return bot.updates.poll({ offset, limit, timeoutMs: Math.min(timeout, MAX_POLL_SECONDS) * 1000 }, signal);
  },
  async sendMessage({ bot, fields }) {
    const { chat_id: userId, text, reply_markup: markup } = parse(newMessage, fields);
    const { chat, miniappOrigin } = bot.options;
    const { message_id, ...message } = bot.newMessage(userId, bot.user);
    await chat.send(userId, { text, ...buttonsOf(markup, miniappOrigin) }, `bot-${message_id}`);
    // Telegram returns an inline keyboard only.
    const keyboard = markup?.inline_keyboard && { reply_markup: { inline_keyboard: markup.inline_keyboard } };
    const sent = { message_id, ...message, text, ...keyboard };
    bot.remember(sent);
    return sent;
  },
  async setWebhook({ bot, fields }) {
    const { url, secret_token: secretToken } = parse(newWebhook, fields);
    const onAnswer = (method: string, answered: Readonly<Record<string, unknown>>) =>
      answerByMethod(bot, method, answered);
    const options = { url, secretToken, onAnswer, now: bot.options.now };
    bot.updates.setWebhook(url === "" ? undefined : new TelegramWebhook(options));
    return true;
  },
  async deleteWebhook({ bot }) {
    bot.updates.setWebhook(undefined);
    return true;
  },
  getWebhookInfo: async ({ bot }) => bot.updates.webhook?.info ?? noWebhook,
  getChat: async ({ fields }) => userChat(parse(oneChat, fields).chat_id),
  getChatMember: async ({ bot, fields }) => ({ user: bot.person(parse(oneChat, fields).chat_id), status: "member" }),
  getChatMenuButton: async () => ({ type: "default" }),
  getMyCommands: async () => [],
  getMyName: async ({ bot }) => ({ name: bot.user.first_name }),
  getMyDescription: async () => ({ description: "" }),
  getMyShortDescription: async () => ({ short_description: "" }),
  ...joinMethods,
  answerCallbackQuery: accept,
  sendChatAction: accept,
  setChatMenuButton: accept,
  setMyCommands: accept,
  deleteMyCommands: accept,
  setMyName: accept,
  setMyDescription: accept,
  setMyShortDescription: accept,
  setMyDefaultAdministratorRights: accept,
  logOut: accept,
  close: accept,
};

/** Telegram's names of methods have no case. */
const methodNames = new Map(Object.keys(botApiMethods).map((name) => [name.toLowerCase(), name]));

export function findBotApiMethod(name: string): ((call: BotApiCall) => Promise<unknown>) | undefined {
  return botApiMethods[methodNames.get(name.toLowerCase()) ?? ""];
}

/** A program may answer an update with a method instead of calling it. */
async function answerByMethod(bot: OwnBot, method: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const run = findBotApiMethod(method);
  if (run === undefined) throw new BotApiRefusal(`the simulated chat has no method ${method}`);
  await run({ bot, fields: textFields(Object.entries(fields)), signal: AbortSignal.timeout(10_000) });
}

function buttonsOf(
  markup: z.output<typeof keyboards> = {},
  miniappOrigin: string,
): Pick<Reply, "buttons" | "suggestions" | "isOneTime" | "placeholder"> {
  const { inline_keyboard = [], keyboard = [], input_field_placeholder: placeholder } = markup;
  const openerOf = (label: string, { url }: z.output<typeof webApp>) => {
    requireMiniapp(url, miniappOrigin);
    return { label, miniappUrl: url };
  };
  const buttons = inline_keyboard.flat().map((button) => {
    if ("url" in button) return { label: button.text, url: button.url };
    if ("callback_data" in button) return { label: button.text, data: button.callback_data };
    return openerOf(button.text, button.web_app);
  });
  const suggestions = keyboard.flatMap((row, index) =>
    row.map((button) => {
      if (typeof button === "object" && button.web_app) return { ...openerOf(button.text, button.web_app), row: index };
      return replyKey(button, index);
    }),
  );
  return {
    ...(buttons.length > 0 && { buttons }),
    ...((suggestions.length > 0 || markup.remove_keyboard) && { suggestions }),
    ...(markup.one_time_keyboard && { isOneTime: true }),
    ...(placeholder !== undefined && { placeholder }),
  };
}

/** A button of a reply keyboard sends its text. */
function replyKey(button: z.output<typeof replyButton>, row: number) {
  if (typeof button === "string") return { label: button, command: button, row };
  const requested = Object.keys(button).find((name) => name.startsWith("request_"));
  if (requested !== undefined)
    throw new BotApiRefusal(`the simulated user has nothing to answer a ${requested} button`);
  return { label: button.text, command: button.text, row };
}
