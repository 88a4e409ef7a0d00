import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { BotApiRefusal } from "../apps/demo-bot/src/channel/bot-api-refusal.ts";
import { type JoinState, PrivateChannel } from "../apps/demo-bot/src/channel/private-channel.ts";
import type { BotApiFields } from "../apps/demo-bot/src/own-bot/bot-api-call.ts";
import { readFields } from "../apps/demo-bot/src/own-bot/bot-api-methods.ts";

interface SentMessage {
  readonly chat_id: string;
  readonly text: string;
  readonly reply_markup: { inline_keyboard: { text: string; url?: string; web_app?: { url: string } }[][] } | undefined;
}

interface Failure {
  readonly status: number;
  readonly description: string;
}

/** Telegram's Bot API for one bot: delivers updates by long polling and keeps the messages that the bot sends. */
export async function startFakeBotApi(botToken: string) {
  const updates: { update_id: number }[] = [];
  const sent: SentMessage[] = [];
  const channel = new PrivateChannel(() => new Date());
  /** The mini-apps that requests to join opened. */
  const opened: { userId: string; url: string }[] = [];
  /** Who was let into the channel, once for each approval. */
  const approved: string[] = [];
  let confirmed = 0;
  let changed: () => void = () => {};
  const keep = ({ userId, state }: { userId: string; state: JoinState }) => {
    if (state === "member") approved.push(userId);
    return true;
  };

  const methods: Record<string, (fields: BotApiFields) => unknown> = {
    getMe: () => ({ id: Number(botToken.split(":")[0]), is_bot: true, first_name: "Example", username: "example_bot" }),
    deleteWebhook: () => true,
    async getUpdates({ offset = "0", timeout = "0" }) {
      // Updates before an offset are confirmed, and a bot that starts anew does not get them again.
      confirmed = Math.max(confirmed, Number(offset));
      const open = () => updates.filter(({ update_id }) => update_id >= confirmed);
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
    sendChatJoinRequestWebApp({ chat_join_request_query_id: queryId = "", web_app_url: url = "" }) {
      opened.push({ userId: channel.show(queryId), url });
      return true;
    },
    answerChatJoinRequestQuery: ({ chat_join_request_query_id: queryId = "", result = "" }) =>
      keep(channel.answer(queryId, result as "approve" | "decline" | "queue")),
    approveChatJoinRequest: ({ chat_id, user_id = "" }) => keep(channel.decide(Number(chat_id), user_id, "approve")),
    declineChatJoinRequest: ({ chat_id, user_id = "" }) => keep(channel.decide(Number(chat_id), user_id, "decline")),
  };
  const failures = new Map<string, Failure>();
  let around: (method: string, moment: "before" | "after") => void = () => {};

  async function call(method: string, run: (fields: BotApiFields) => unknown, fields: BotApiFields) {
    around(method, "before");
    const failure = failures.get(method);
    if (failures.delete(method) && failure)
      return { ok: false, error_code: failure.status, description: failure.description };
    try {
      return { ok: true, result: await run(fields) };
    } catch (error) {
      if (!(error instanceof BotApiRefusal)) throw error;
      return { ok: false, error_code: error.status, description: `Bad Request: ${error.message}` };
    } finally {
      around(method, "after");
    }
  }

  function give(update: object): void {
    updates.push({ update_id: updates.length + 1, ...update });
    changed();
  }

  const server = createServer(async (request, response) => {
    const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
    const run = token === botToken ? methods[method] : undefined;
    const fields = await readFields(await buffer(request), request.headers["content-type"] ?? "");
    const answer = run
      ? await call(method, run, fields)
      : { ok: false, error_code: 404, description: `no method ${method}` };
    response.writeHead(answer.error_code ?? 200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    opened,
    approved,
    channel,
    /** The next call of the method fails. */
    failNext(method: string, failure: Failure): void {
      failures.set(method, failure);
    },
    /** Telegram delivers an update again that the bot did not confirm. */
    repeatUpdate(): void {
      give({ ...updates.at(-1), update_id: updates.length + 1 });
    },
    /** What happens before a method has its effect, and between its effect and its answer. */
    set around(act: (method: string, moment: "before" | "after") => void) {
      around = act;
    },
    /** A user requests to join the private channel; `hasQuery`: the bot is assigned to process requests. */
    askToJoin(userId: string, options: { hasQuery?: boolean; language?: string } = {}): void {
      const from = { id: Number(userId), is_bot: false, first_name: "Ada", language_code: options.language ?? "en" };
      give({ chat_join_request: channel.ask(from, options) });
    },
    /** A user writes a text to the bot, in a private chat. */
    write(userId: string, text: string): void {
      const user = { id: Number(userId), is_bot: false, first_name: "Ada" };
      const entities = [{ type: "bot_command", offset: 0, length: text.length }];
      const chat = { id: user.id, type: "private", first_name: "Ada" };
      give({ message: { message_id: updates.length + 1, date: 0, chat, from: user, text, entities } });
    },
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
