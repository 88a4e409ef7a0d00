import { z } from "zod";
import type { Reply } from "../scenario/chat-port.ts";
import type { OwnBot } from "./own-bot.ts";

/** Fields of a Bot API request by name; values that are not text are JSON. */
export type BotApiFields = Readonly<Record<string, string | undefined>>;

/** Bot libraries send JSON, or forms whose fields hold JSON. Throws if the body is neither. */
export async function readFields(body: Buffer, contentType: string): Promise<BotApiFields> {
  if (body.length === 0) return {};
  const fields: [string, unknown][] = contentType.startsWith("application/json")
    ? Object.entries(JSON.parse(body.toString()))
    : [...(await new Response(Uint8Array.from(body), { headers: { "content-type": contentType } }).formData())];
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** A request that Telegram would refuse, or that this chat cannot carry out. */
export class BotApiRefusal extends Error {
  override readonly name = "BotApiRefusal";
}

export interface BotApiCall {
  readonly bot: OwnBot;
  readonly fields: BotApiFields;
  /** Aborts when the bot's program closes the connection or this server stops. */
  readonly signal: AbortSignal;
}

const longestPollSeconds = 50;

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
const replyButton = z.union([z.string(), z.object({ text: label, web_app: webApp.optional() })]);
const keyboards = z.object({
  inline_keyboard: z.array(z.array(inlineButton).max(8)).max(20).optional(),
  keyboard: z.array(z.array(replyButton).max(8)).max(20).optional(),
});
const newMessage = z.object({
  chat_id: z.string().regex(/^[1-9][0-9]{0,15}$/, "is not a user of this chat"),
  text: z.string().min(1).max(4096),
  reply_markup: json.pipe(keyboards).optional(),
});
const poll = z.object({
  offset: z.coerce.number().int().default(0),
  timeout: z.coerce.number().int().min(0).default(0),
});

const accept = async () => true;

/** The methods of Telegram's Bot API that this chat has. */
export const botApiMethods: Readonly<Record<string, (call: BotApiCall) => Promise<unknown>>> = {
  async getMe({ bot: { options } }) {
    const rights = { can_join_groups: false, can_read_all_group_messages: false, supports_inline_queries: false };
    return {
      id: Number(options.botId),
      is_bot: true,
      first_name: options.botName,
      username: "simulated_bot",
      ...rights,
    };
  },
  getUpdates({ bot, fields, signal }) {
    const { offset, timeout } = parse(poll, fields);
    return bot.updates.poll(offset, Math.min(timeout, longestPollSeconds) * 1000, signal);
  },
  async sendMessage({ bot, fields }) {
    const { chat_id: userId, text, reply_markup: markup } = parse(newMessage, fields);
    const { chat, miniappOrigin, now } = bot.options;
    const id = bot.nextMessageId();
    await chat.send(userId, { text, ...buttonsOf(markup, miniappOrigin) }, `bot-${id}`);
    return {
      message_id: id,
      date: Math.floor(now().getTime() / 1000),
      chat: { id: Number(userId), type: "private", first_name: "Robin" },
      text,
    };
  },
  answerCallbackQuery: accept,
  deleteWebhook: accept,
  sendChatAction: accept,
  setChatMenuButton: accept,
  setMyCommands: accept,
  deleteMyCommands: accept,
};

function buttonsOf(
  { inline_keyboard = [], keyboard = [] }: z.output<typeof keyboards> = {},
  miniappOrigin: string,
): Pick<Reply, "buttons" | "suggestions"> {
  const openerOf = (label: string, { url }: z.output<typeof webApp>) => {
    if (new URL(url).origin === miniappOrigin) return { label, miniappUrl: url };
    throw new BotApiRefusal(`the simulated phone opens only the mini-app of the ad service, at ${miniappOrigin}`);
  };
  const buttons = inline_keyboard.flat().map((button) => {
    if ("url" in button) return { label: button.text, url: button.url };
    if ("callback_data" in button) return { label: button.text, data: button.callback_data };
    return openerOf(button.text, button.web_app);
  });
  const suggestions = keyboard.flat().map((button) => {
    if (typeof button === "string") return { label: button, command: button };
    const { text, web_app: opened } = button;
    return opened ? openerOf(text, opened) : { label: text, command: text };
  });
  return { ...(buttons.length > 0 && { buttons }), ...(suggestions.length > 0 && { suggestions }) };
}

function parse<Shape extends z.ZodType>(shape: Shape, fields: BotApiFields): z.output<Shape> {
  const parsed = shape.safeParse(fields);
  if (parsed.success) return parsed.data;
  throw new BotApiRefusal(z.prettifyError(parsed.error));
}
