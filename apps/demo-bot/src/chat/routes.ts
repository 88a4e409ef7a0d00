import type { ServerResponse } from "node:http";
import { telegramId } from "@intermission/ad-core/client-api";
import { HttpError } from "@intermission/http-server/http-server";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { LaunchRequest } from "../phone/sign-launch.ts";
import { phrasesOf } from "../scenario/phrases.ts";
import { answerMessage, type Rewards } from "../scenario/scenario.ts";
import type { ChatMessage, Conversations } from "./conversations.ts";

export interface ChatDeps {
  readonly conversations: Conversations;
  readonly rewards: Rewards;
  readonly cooldownSeconds: number;
  readonly miniappOrigin: string;
  signLaunch(request: LaunchRequest): string;
  /** Ends the open event streams. */
  readonly stopping: AbortSignal;
  readonly now: () => Date;
}

const params = z.object({
  userId: telegramId.refine((id) => Number.isSafeInteger(Number(id)), "is beyond Telegram's ids"),
});
const newMessage = z.object({
  text: z.string().trim().min(1).max(500),
  messageId: z.uuid(),
  language: z.string().max(35),
});
const colour = z.string().regex(/^#[0-9a-f]{6}$/i);
const newLaunch = z.object({ miniappUrl: z.url(), themeParams: z.record(z.string().max(40), colour) });

function parse<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HttpError(400, "BAD_REQUEST", z.prettifyError(parsed.error));
}

/** What the chat's page speaks: one conversation a user, as Telegram would carry it. */
export function chatRoutes(app: FastifyInstance, deps: ChatDeps): void {
  const { conversations, now } = deps;

  app.post("/chat/:userId/messages", async (request, reply) => {
    const { userId } = parse(params, request.params);
    const { text, messageId, language } = parse(newMessage, request.body);
    conversations.setLanguage(userId, language);
    conversations.say(userId, "user", { text }, now(), messageId);
    const phrases = phrasesOf(language);
    try {
      const answer = await answerMessage(
        { userId, text, messageId, phrases, now: now() },
        deps.rewards,
        deps.cooldownSeconds,
      );
      conversations.say(userId, "bot", answer, now());
    } catch (error) {
      request.log.warn({ err: error }, "a message could not be answered");
      conversations.say(userId, "bot", { text: phrases.failed }, now());
    }
    return reply.code(204).send();
  });

  app.post("/chat/:userId/launch", async (request) => {
    const { userId } = parse(params, request.params);
    const { miniappUrl, themeParams } = parse(newLaunch, request.body);
    if (new URL(miniappUrl).origin !== deps.miniappOrigin)
      throw new HttpError(400, "BAD_REQUEST", "not an address of the mini-app");
    const language = conversations.languageOf(userId);
    return { url: deps.signLaunch({ miniappUrl, userId, language, themeParams, now: now() }) };
  });

  app.get("/chat/:userId/events", (request, reply) => {
    const { userId } = parse(params, request.params);
    reply.hijack();
    streamMessages(reply.raw, userId, deps);
  });
}

function streamMessages(response: ServerResponse, userId: string, { conversations, stopping }: ChatDeps): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  const send = (message: ChatMessage) => void response.write(`data: ${JSON.stringify(message)}\n\n`);
  response.write("retry: 1000\n\n");
  for (const message of conversations.history(userId)) send(message);
  const stopListening = conversations.listen(userId, send);
  const ping = setInterval(() => response.write(": still here\n\n"), 15_000);
  const end = () => response.end();
  stopping.addEventListener("abort", end);
  response.once("close", () => {
    stopListening();
    clearInterval(ping);
    stopping.removeEventListener("abort", end);
  });
}
