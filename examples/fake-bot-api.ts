import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type BotApiFields, readFields } from "../apps/demo-bot/src/own-bot/bot-api-methods.ts";

interface SentMessage {
  readonly chat_id: string;
  readonly text: string;
  readonly reply_markup: { inline_keyboard: { text: string; url?: string; web_app?: { url: string } }[][] } | undefined;
}

/** Telegram's Bot API for one bot: delivers updates by long polling and keeps the messages that the bot sends. */
export async function startFakeBotApi(botToken: string) {
  const updates: { update_id: number }[] = [];
  const sent: SentMessage[] = [];
  let changed: () => void = () => {};

  const methods: Record<string, (fields: BotApiFields) => unknown> = {
    getMe: () => ({ id: Number(botToken.split(":")[0]), is_bot: true, first_name: "Example", username: "example_bot" }),
    deleteWebhook: () => true,
    async getUpdates({ offset = "0", timeout = "0" }) {
      const open = () => updates.filter(({ update_id }) => update_id >= Number(offset));
      if (open().length === 0 && Number(timeout) > 0) {
        await new Promise<void>((resolve) => {
          changed = resolve;
          setTimeout(resolve, 1000);
        });
      }
      return open();
    },
    sendMessage({ chat_id = "", text = "", reply_markup: markup }) {
      sent.push({ chat_id, text, reply_markup: markup === undefined ? undefined : JSON.parse(markup) });
      return { message_id: sent.length, date: 0, chat: { id: Number(chat_id), type: "private" }, text };
    },
  };

  const server = createServer(async (request, response) => {
    const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
    const run = token === botToken ? methods[method] : undefined;
    const answer = run
      ? { ok: true, result: await run(await readFields(await buffer(request), request.headers["content-type"] ?? "")) }
      : { ok: false, error_code: 404, description: `no method ${method}` };
    response.writeHead(answer.ok ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    /** A user writes a text to the bot, in a private chat. */
    write(userId: string, text: string): void {
      const user = { id: Number(userId), is_bot: false, first_name: "Ada" };
      const entities = [{ type: "bot_command", offset: 0, length: text.length }];
      const chat = { id: user.id, type: "private", first_name: "Ada" };
      const id = updates.length + 1;
      const update = { update_id: id, message: { message_id: id, date: 0, chat, from: user, text, entities } };
      updates.push(update);
      changed();
    },
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
