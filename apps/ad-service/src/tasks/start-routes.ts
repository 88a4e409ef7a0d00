import { telegramId } from "@intermission/ad-core/wire-fields";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { TaskDeps } from "./follow-updates.ts";
import { type RecordStartOutcome, recordStart } from "./record-start.ts";

const startPostback = z.object({
  key: z.string().min(1).max(128),
  code: z.string().regex(/^[0-9A-Za-z]{8,64}$/, "must be the code of a task: what follows /start"),
  user_id: z.union([z.string(), z.int()]).transform(String).pipe(telegramId),
  started_at: z.coerce
    .number("must be a moment in seconds, as the `date` of Telegram's message")
    .int()
    .positive()
    .max(1e11)
    .optional(),
});

const refusals = {
  "unknown-key": [401, "UNAUTHORIZED", "the key belongs to no advertiser; it may be truncated or replaced"],
  "unknown-task": [404, "UNKNOWN_TASK", "no task of this code is for a bot of this advertiser"],
  "not-opened": [409, "NOT_OPENED", "nobody has opened this task by its button: the code was passed on"],
  "other-user": [409, "OTHER_USER", "the task is another user's: nothing is paid"],
  "joined-before": [409, "STARTED_BEFORE", "the user has started the bot for this campaign before: nothing is paid"],
  over: [409, "TASK_OVER", "the task is over: nothing is paid"],
  "too-late": [410, "TASK_TOO_OLD", "the bot was started after the end of the task: nothing is paid"],
  "no-budget": [409, "NO_BUDGET", "the task had ended, and the campaign has no budget left for it"],
} as const satisfies Record<Exclude<RecordStartOutcome, "recorded" | "repeated">, [number, string, string]>;

/** `GET|POST /postback/v1/starts`: the advertiser's bot reports a user who started it with the code of a task. */
export function startPostbackRoutes(app: FastifyInstance, deps: TaskDeps): void {
  const calls = rateLimiter({ quota: 200, windowSeconds: 4, maxKeys: 20_000 });
  const wrongKeys = rateLimiter({ quota: 20, windowSeconds: 100, maxKeys: 20_000 });
  const answer = async (request: FastifyRequest, input: unknown) => {
    const at = deps.now();
    const network = addressNetwork(request.ip);
    spend(request, calls, network, at);
    const { key, code, user_id: userId, started_at } = parseRequest(startPostback, input);
    const startedAt = started_at === undefined ? at : new Date(started_at * 1000);
    const outcome = await recordStart(deps, { key, code, userId, startedAt });
    if (outcome === "recorded" || outcome === "repeated") return { outcome };
    if (outcome === "unknown-key") spend(request, wrongKeys, network, at);
    const [status, name, message] = refusals[outcome];
    throw new HttpError(status, name, message);
  };
  app.get("/postback/v1/starts", { exposeHeadRoute: false }, (request, reply) => {
    reply.header("cache-control", "no-store");
    return answer(request, request.query);
  });
  app.post("/postback/v1/starts", (request, reply) => {
    reply.header("cache-control", "no-store");
    return answer(request, { ...fieldsOf(request.query), ...fieldsOf(request.body) });
  });
}

const fieldsOf = (value: unknown) => (typeof value === "object" && value !== null ? value : {});
