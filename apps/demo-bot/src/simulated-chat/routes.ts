import { telegramId } from "@intermission/ad-core/wire-fields";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { ButtonPress } from "../scenario/chat-port.ts";
import type { Bot } from "../scenario/create-bot.ts";
import type { ViewRecords } from "../timeline/view-records.ts";
import type { LaunchRequest } from "./sign-launch.ts";
import type { SimulatedChat } from "./simulated-chat.ts";
import { streamMessages } from "./stream-messages.ts";

export interface ChatRoutesOptions {
  readonly chat: SimulatedChat;
  readonly bot: Pick<Bot, "hear"> & {
    press?(pressed: ButtonPress): Promise<void>;
    askToJoin?(userId: string): Promise<void>;
    readonly channel?: { readonly chat: { readonly title: string } };
  };
  /** The name of a bot that is not the demo's own; undefined for Coin Garden. */
  readonly botName?: string | undefined;
  readonly botId: string;
  readonly miniappOrigin: string;
  readonly views: ViewRecords;
  readonly signLaunch: (request: LaunchRequest) => string;
  /** Aborting it ends the open event streams. */
  readonly stopping: AbortSignal;
  readonly now: () => Date;
}

const params = z.object({
  // Init data carries the id as a JSON number.
  userId: telegramId.refine((id) => Number.isSafeInteger(Number(id)), "is larger than Telegram's ids"),
});
const language = z.string().regex(/^[a-z]{2,3}\b[\w-]{0,32}$/i, "is no language tag");
const newMessage = z.object({
  id: z.string().regex(/^[\w-]{1,64}$/, "is not a message id"),
  text: z.string().trim().min(1).max(500),
  language,
});
const newPress = z.object({ id: z.string().regex(/^[\w-]{1,64}$/, "is not an id"), data: z.string().min(1).max(64) });
const colour = z.string().regex(/^#[0-9a-f]{6}$/i);
const newLaunch = z.object({
  miniappUrl: z.url(),
  themeParams: z.record(z.string().max(40), colour),
  platform: z.enum(["web", "ios", "android", "tdesktop"]).default("web"),
  /** A rehearsed state of the mini-app is no view. */
  isRehearsed: z.boolean().default(false),
  isReplyKeyboard: z.boolean().default(false),
  /** Of the request to join for which Telegram opens the mini-app. */
  joinQueryId: z.string().max(64).optional(),
});

/** The chat page's API, in place of Telegram's. */
export function chatRoutes(app: FastifyInstance, options: ChatRoutesOptions): void {
  const { chat, bot, miniappOrigin, now } = options;

  app.post("/chat/:userId/messages", async (request, reply) => {
    const { userId } = parseRequest(params, request.params);
    const message = parseRequest(newMessage, request.body);
    chat.setLanguage(userId, message.language);
    if (chat.receive({ userId, ...message })) await bot.hear({ userId, ...message });
    return reply.code(204).send();
  });

  app.post("/chat/:userId/presses", async (request, reply) => {
    const { userId } = parseRequest(params, request.params);
    await bot.press?.({ userId, ...parseRequest(newPress, request.body) });
    return reply.code(204).send();
  });

  app.post("/chat/:userId/join", async (request, reply) => {
    const { userId } = parseRequest(params, request.params);
    await bot.askToJoin?.(userId);
    return reply.code(204).send();
  });

  app.get("/bot", async () => ({
    botId: options.botId,
    name: options.botName ?? null,
    channel: bot.channel?.chat.title ?? null,
  }));

  app.post("/chat/:userId/launch", async (request) => {
    const { userId } = parseRequest(params, request.params);
    const { miniappUrl, isRehearsed, ...launch } = parseRequest(newLaunch, request.body);
    if (new URL(miniappUrl).origin !== miniappOrigin) {
      throw new HttpError(400, "BAD_REQUEST", "miniappUrl is not a URL of the mini-app");
    }
    const at = now();
    const code = new URL(miniappUrl).searchParams.get("code") ?? undefined;
    if (!isRehearsed && !launch.isReplyKeyboard) options.views.tapped(userId, code, at.toISOString());
    const signed = { ...launch, miniappUrl, userId, language: chat.languageOf(userId), now: at };
    return { url: options.signLaunch(signed) };
  });

  app.get("/chat/:userId/events", (request, reply) => {
    const { userId } = parseRequest(params, request.params);
    chat.setLanguage(userId, parseRequest(z.object({ language }), request.query).language);
    reply.hijack();
    streamMessages(reply.raw, chat, userId, options.stopping);
  });
}
