import {
  type ListTasksResponse,
  listTasksRequest,
  listTasksResponse,
  offeredTask,
} from "@intermission/ad-core/task-api";
import type { Bot } from "@intermission/operator-api/bots";
import { isStorable, storableForm } from "@intermission/postgres/storable-text";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { HttpError } from "@intermission/server/http-server";
import { z } from "zod";
import { languageOf } from "../ad-selection/eligibility.ts";
import { callerOf, countCode, type RateLimits } from "../bots/authenticate-client.ts";
import { revenueFields } from "../campaigns/event-worth.ts";
import type { TaskDeps } from "./follow-updates.ts";
import { type OfferDeps, type OfferedTask, offerTasks, readTask } from "./offer-tasks.ts";
import { checkTask, findTask } from "./sweep-tasks.ts";

const listTasks = {
  operationId: "listTasks",
  description: "Returns up to five tasks of a user: those that are open, and new ones.",
  body: listTasksRequest
    .refine(({ reference = "" }) => isStorable(reference), { path: ["reference"], error: storableForm })
    .meta(listTasksRequest.meta() ?? {}),
  response: { 200: listTasksResponse },
};
const checkTaskOperation = {
  operationId: "checkTask",
  description:
    "Returns where a task stands. Telegram is asked about the user of an opened one, in case no update has reported the join; a membership that it names counts a minute later.",
  params: z.object({ code: z.string().max(64) }),
  response: { 200: offeredTask, ...refusals(404) },
};

interface TaskClientDeps extends OfferDeps, TaskDeps {
  limits: RateLimits;
  publicUrl: string;
  currency: string;
}

/** Tasks, for publishers whose bot asks for them. */
export function taskClientRoutes(scope: CheckedScope, deps: TaskClientDeps): void {
  scope.post("/tasks", { schema: listTasks }, async (request, reply) => {
    const { bot_id: botId, user_tg_id: userId, reference, language } = request.body;
    const caller = callerOf(request);
    const { bot } = caller;
    if (botId !== bot.botId)
      throw new HttpError(403, "FORBIDDEN", `the token is of bot ${bot.botId}, and bot_id is ${botId}`);
    countCode(deps.limits, reply, caller, userId);
    if (!bot.hasTasks) return { tasks: [], reason: "not-enabled" as const };
    const tasks = await offerTasks(deps, { bot, userId, reference, language: languageOf(language), now: deps.now() });
    const answer: ListTasksResponse = {
      tasks: tasks.map((task) => taskAnswer(task, bot, deps)),
      ...(tasks.length === 0 && { reason: "no-task" as const }),
    };
    return answer;
  });

  scope.post("/tasks/:code/check", { schema: checkTaskOperation }, async (request, reply) => {
    const { code } = request.params;
    const caller = callerOf(request);
    const { botId } = caller.bot;
    const found = await findTask(deps.database, { code, botId });
    if (found === undefined) throw new HttpError(404, "NOT_FOUND", "this bot has no such task");
    countCode(deps.limits, reply, caller, found.userId);
    await checkTask(deps, found);
    const task = await readTask(deps.database, { code, botId });
    if (task === undefined) throw new Error(`task ${code} disappeared`);
    return taskAnswer(task, caller.bot, deps);
  });
}

function taskAnswer(
  task: OfferedTask,
  { includeRevenue }: Bot,
  { publicUrl, currency }: Pick<TaskClientDeps, "publicUrl" | "currency">,
) {
  const { code, state, kind, title, username, reference, expiresAt, holdDays, paidAt, revenueMicros } = task;
  return {
    code,
    state,
    kind,
    title,
    ...(username !== null && { username }),
    url: `${publicUrl}/task/${code}`,
    expires_at: expiresAt.toISOString(),
    ...(reference !== null && { reference }),
    hold_days: holdDays,
    paid_at: paidAt,
    ...revenueFields(revenueMicros, { includeRevenue, currency }),
  };
}
