import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import {
  checkOwnTaskResponse,
  type ListOwnTasksResponse,
  listOwnTasksResponse,
  type OwnTaskRequest,
  openTaskResponse,
  ownTaskRequest,
} from "@intermission/ad-core/player-task-api";
import type { Bot } from "@intermission/operator-api/bots";
import { refusals } from "@intermission/server/checked-routes";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { languageOf } from "../ad-selection/eligibility.ts";
import { findBot } from "../bots/bots.ts";
import { botForPlayer, openingRefusal } from "../views/opening-answer.ts";
import { consumes, playerScope } from "../views/player-scope.ts";
import { type LaunchDeps, type RefusedLaunch, verifyLaunch } from "../views/verify-launch.ts";
import type { TaskDeps } from "./follow-updates.ts";
import { type OfferDeps, offerTasks } from "./offer-tasks.ts";
import { openTask } from "./open-task.ts";
import { type OwnTask, readOwnTask, readOwnTasks } from "./own-tasks.ts";
import { checkTask, findTask } from "./sweep-tasks.ts";
import { issueTaskGrant, readTaskGrant, type TaskUser } from "./task-grant.ts";

const ofTask = z.object({ code: z.string().max(64) });
const listOperation = {
  operationId: "listOwnTasks",
  description: "Returns the user's tasks with their states: those that are open, new ones, and those that are over.",
  consumes,
  body: ownTaskRequest,
  response: { 200: listOwnTasksResponse, ...refusals(401, 403, 404, 429) },
};
const openOperation = {
  operationId: "openOwnTask",
  description: "Opens a task of the user, and returns its link.",
  consumes,
  params: ofTask,
  body: ownTaskRequest,
  response: { 200: openTaskResponse, ...refusals(401, 403, 404, 429) },
};
const checkOperation = {
  operationId: "checkOwnTask",
  description: "Returns where a task of the user stands, after asking Telegram about an opened one.",
  consumes,
  params: ofTask,
  body: ownTaskRequest,
  response: { 200: checkOwnTaskResponse, ...refusals(401, 403, 404, 429) },
};

interface TaskPlayerDeps extends OfferDeps, TaskDeps, LaunchDeps {
  publicUrl: string;
}

interface Verified extends TaskUser {
  outcome: "verified";
  bot: Bot;
  /** Issued for launch data alone: an app grant lasts as long, and ends with its origin. */
  grant: string | undefined;
}

/** The list of tasks in the mini-app and in the in-app frame: each call is of the user whom its proof names. */
export function taskPlayerRoutes(app: FastifyInstance, deps: TaskPlayerDeps): void {
  const { database, publicUrl, now } = deps;
  // Each call may call Telegram.
  const ofUser = rateLimiter({ quota: 60, windowSeconds: 60, maxKeys: 20_000 });
  const paths = ["/tasks", "/tasks/:code/open", "/tasks/:code/check"];
  playerScope(app, paths, ({ scope, checks, spendForgery }) => {
    async function identify(request: FastifyRequest<{ Body: OwnTaskRequest }>, at: Date): Promise<Verified> {
      spend(request, checks, addressNetwork(request.ip), at);
      const verified = spendForgery(request, await verifyUser(deps, request.body, at), at);
      if (verified.outcome === "refused") throw openingRefusal(verified, publicUrl);
      spend(request, ofUser, `${verified.bot.botId} ${verified.userId}`, at);
      return verified;
    }

    scope.post("/tasks", { schema: listOperation }, async (request) => {
      const at = now();
      const { bot, userId, languageCode, grant } = await identify(request, at);
      const language = languageOf(languageCode);
      // What is over is shown also by a bot that asks for no more tasks.
      if (bot.hasTasks) await offerTasks(deps, { bot, userId, reference: undefined, language, now: at });
      const tasks = await readOwnTasks(database, { userId, botId: bot.botId, now: at });
      const answer: ListOwnTasksResponse = {
        bot: botForPlayer(bot, publicUrl),
        ...(bot.rewardUnit && { unit: bot.rewardUnit }),
        ...(grant && { task_grant: grant }),
        tasks: tasks.map(taskAnswer),
        server_time: at.toISOString(),
      };
      return answer;
    });

    scope.post("/tasks/:code/open", { schema: openOperation }, async (request) => {
      const at = now();
      const own = { ...ownerIn(await identify(request, at)), code: request.params.code };
      await requireOwn(own);
      const opened = await openTask(deps, { code: own.code, now: at });
      const task = taskAnswer(await requireOwn(own));
      if (opened.outcome === "unknown-task") throw unknownTask();
      const link = opened.outcome === "opened" ? { link: opened.inviteLink } : {};
      return { outcome: opened.outcome, ...link, task, server_time: at.toISOString() };
    });

    scope.post("/tasks/:code/check", { schema: checkOperation }, async (request) => {
      const at = now();
      const own = { ...ownerIn(await identify(request, at)), code: request.params.code };
      await requireOwn(own);
      const found = await findTask(database, own);
      if (found !== undefined) await checkTask(deps, found);
      return { task: taskAnswer(await requireOwn(own)), server_time: at.toISOString() };
    });
  });

  /** Whether another user's code exists is not said. */
  async function requireOwn(own: { code: string; userId: string; botId: string }): Promise<OwnTask> {
    const task = await readOwnTask(database, own);
    if (task === undefined) throw unknownTask();
    return task;
  }
}

const ownerIn = ({ userId, bot }: Verified) => ({ userId, botId: bot.botId });
const unknownTask = () => new HttpError(404, "TASK_UNKNOWN", "this user has no such task");

async function verifyUser(
  deps: LaunchDeps,
  { bot_id: botId, init_data: initData = "", app_grant: appGrant, task_grant: taskGrant }: OwnTaskRequest,
  now: Date,
): Promise<Verified | RefusedLaunch> {
  const refused = (reason: OpenSessionRefusal, bot?: Bot) => ({
    outcome: "refused" as const,
    reason,
    ...(bot && { bot }),
  });
  if (taskGrant !== undefined) {
    const bot = await findBot(deps.bots, botId);
    if (!bot) return refused("BOT_UNKNOWN");
    if (bot.isSuspended) return refused("BOT_SUSPENDED");
    const read = readTaskGrant(deps.secretBox, { token: taskGrant, botId, now });
    if (read.outcome === "invalid") return refused("INIT_DATA_INVALID");
    if (read.outcome === "expired") return refused("INIT_DATA_EXPIRED", bot);
    return { ...read, outcome: "verified", bot, grant: undefined };
  }
  const proof = appGrant === undefined ? { initData } : { appGrant };
  const launch = await verifyLaunch(deps, { botId, now, ...proof });
  if (launch.outcome === "refused") return launch;
  const { bot } = launch;
  if (launch.mustContinue) return refused("INIT_DATA_EXPIRED", bot);
  const user = { userId: launch.user.id, languageCode: launch.user.languageCode };
  const grant = launch.isInApp ? undefined : issueTaskGrant(deps.secretBox, botId, { ...user, now });
  return { outcome: "verified", bot, ...user, grant };
}

function taskAnswer(task: OwnTask) {
  const { code, state, kind, title, username, expiresAt, holdDays, paidAt, heldUntil, memberSince } = task;
  return {
    code,
    state,
    kind,
    title,
    ...(username !== null && { username }),
    expires_at: expiresAt.toISOString(),
    hold_days: holdDays,
    paid_at: paidAt,
    ...(heldUntil !== null && { held_until: heldUntil.toISOString() }),
    payment: task.isReversed ? ("reversed" as const) : task.isPaid ? ("paid" as const) : ("none" as const),
    ...(state === "opened" && memberSince !== null && { is_confirming: true as const }),
  };
}
