import { telegramId } from "@intermission/ad-core/wire-fields";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { isTaskBot, tokenOf } from "./bot-api.ts";
import { applyUpdate, type TaskDeps } from "./follow-updates.ts";
import { isSecret } from "./task-bot-webhook.ts";
import { readUpdate } from "./telegram-answers.ts";

const params = z.object({ taskBotId: telegramId });
/** Above the largest update that task bots get: only messages with entities are larger. */
const MAX_BODY = 256 * 1024;

/** `POST /task-bot-updates/{id}`: Telegram sends an update of a task bot, and repeats it until the answer is 200. */
export function taskUpdateRoutes(app: FastifyInstance, deps: TaskDeps): void {
  // Telegram sends the updates of all bots from few addresses, and repeats a refused one for a day. Another bot's owner can make
  // Telegram send updates with a wrong secret from the same addresses: below 100 a second they delay nothing.
  const calls = rateLimiter({ quota: 400, windowSeconds: 4, maxKeys: 20_000 });
  const wrongSecrets = rateLimiter({ quota: 20, windowSeconds: 100, maxKeys: 20_000 });
  app.post("/task-bot-updates/:taskBotId", { bodyLimit: MAX_BODY }, async (request, reply) => {
    reply.header("cache-control", "no-store");
    const { taskBotId } = parseRequest(params, request.params);
    const network = addressNetwork(request.ip);
    spend(request, calls, network, deps.now());
    const isKnown = await isTaskBot(deps.database, taskBotId);
    const sent = request.headers["x-telegram-bot-api-secret-token"];
    if (!isKnown || !isSecret(sent, await tokenOf(deps, taskBotId))) {
      spend(request, wrongSecrets, network, deps.now());
      throw new HttpError(401, "UNAUTHORIZED", "the secret token is not the one of this task bot");
    }
    const update = readUpdate(request.body);
    // An update without a number is accepted: otherwise Telegram would repeat it for ever.
    if (update === undefined) request.log.warn({ taskBotId }, "Telegram sent something that is no update");
    else await applyUpdate(deps, taskBotId, { ...update, isPushed: true });
    return {};
  });
}
