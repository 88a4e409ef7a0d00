import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BotApiRefusal } from "../channel/bot-api-refusal.ts";
import { readBytes } from "../read-request.ts";
import type { ServedBot } from "./bot-api-call.ts";
import { findBotApiMethod, readFields } from "./bot-api-methods.ts";
import type { OwnBot } from "./own-bot.ts";

export function servedOwnBot(bot: OwnBot): ServedBot {
  return {
    token: bot.options.botToken,
    methodOf(name) {
      const run = findBotApiMethod(name);
      return run && (({ fields, signal }) => run({ bot, fields, signal }));
    },
  };
}

export interface BotApiRoutesOptions {
  readonly bots: readonly ServedBot[];
  /** Aborting it ends the open polls. */
  readonly stopping: AbortSignal;
}

interface Params {
  readonly token: string;
  readonly method: string;
}

/** Telegram's Bot API for these bots: `/bot<token>/<method>`. The chat's user is on the other side. */
export function botApiRoutes(app: FastifyInstance, { bots, stopping }: BotApiRoutesOptions): void {
  app.register(async (scope) => {
    readBytes(scope);
    scope.route<{ Params: Params }>({
      method: ["GET", "POST"],
      url: "/bot:token/:method",
      handler: async (request, reply) => {
        const { token, method } = request.params;
        const bot = bots.find((served) => served.token === token);
        if (bot === undefined)
          return refuse(reply, 401, "Unauthorized: use the token in the file of settings that npm start wrote");
        const run = bot.methodOf(method);
        if (run === undefined) return refuse(reply, 404, `Not Found: the simulated chat has no method ${method}`);
        try {
          const fields = await fieldsOf(request);
          const origin = `http://${request.headers.host}`;
          return { ok: true, result: await run({ fields, signal: signalOf(reply, stopping), origin }) };
        } catch (error) {
          if (!(error instanceof BotApiRefusal)) throw error;
          return refuse(reply, error.status, `${statusWords[error.status]}: ${error.message}`);
        }
      },
    });
  });
}

const statusWords = { 400: "Bad Request", 409: "Conflict" } satisfies Record<BotApiRefusal["status"], string>;

async function fieldsOf(request: FastifyRequest) {
  if (!Buffer.isBuffer(request.body)) return { ...(request.query as Readonly<Record<string, string>>) };
  try {
    return await readFields(request.body, request.headers["content-type"] ?? "");
  } catch {
    throw new BotApiRefusal("the body is neither JSON nor a form");
  }
}

function signalOf(reply: FastifyReply, stopping: AbortSignal): AbortSignal {
  const closed = new AbortController();
  reply.raw.once("close", () => closed.abort());
  return AbortSignal.any([closed.signal, stopping]);
}

function refuse(reply: FastifyReply, status: number, description: string) {
  return reply.code(status).send({ ok: false, error_code: status, description });
}
