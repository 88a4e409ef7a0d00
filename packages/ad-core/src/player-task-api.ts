import { z } from "zod";
import { playerTaskExamples } from "./api-examples.ts";
import { namedReward } from "./client-api.ts";
import { botForPlayer, launchProof } from "./player-api.ts";
import { offeredTask } from "./task-api.ts";
import { moment, telegramId } from "./wire-fields.ts";

/**
 * Requests and answers of the user's own list of tasks.
 *
 * - `POST /player/v1/tasks`              listOwnTasksRequest → listOwnTasksResponse
 * - `POST /player/v1/tasks/{code}/open`  ownTaskRequest → openTaskResponse
 * - `POST /player/v1/tasks/{code}/check` ownTaskRequest → checkOwnTaskResponse
 *
 * The user is the one whom Telegram's launch data, or what was issued for them, names; no request names another. How a join is
 * known, why it does not count, and what the advertiser pays stay on the server.
 */

const userProof = {
  bot_id: telegramId,
  ...launchProof,
  task_grant: z
    .string()
    .min(1)
    .max(2048)
    .optional()
    .describe("Instead of launch data: what `POST /player/v1/tasks` answered to this user."),
};
const hasOneProof = (request: Partial<Record<"init_data" | "app_grant" | "task_grant", string | undefined>>) =>
  [request.init_data, request.app_grant, request.task_grant].filter((proof) => proof !== undefined).length === 1;
const oneProof = { error: "must be given, or app_grant or task_grant instead", path: ["init_data"] };

export const ownTaskRequest = z
  .object(userProof)
  .refine(hasOneProof, oneProof)
  .meta({ examples: playerTaskExamples.ownTaskRequest });
export type OwnTaskRequest = z.infer<typeof ownTaskRequest>;

export const ownTask = z.object({
  ...offeredTask.pick({ code: true, state: true, kind: true, title: true, username: true, expires_at: true }).shape,
  ...offeredTask.pick({ hold_days: true, paid_at: true }).shape,
  held_until: moment.optional().describe("Of a user who has joined: until when to stay."),
  payment: z
    .enum(["none", "paid", "reversed"])
    .describe(
      "`paid`: the event `task` was made; `reversed`: `task_reversed`, too. Only the publisher's API knows what was credited.",
    ),
  is_confirming: z
    .literal(true)
    .optional()
    .describe("Telegram names the user a member. It counts within a minute, unless a report says otherwise."),
});
export type OwnTask = z.infer<typeof ownTask>;

const serverTime = { server_time: moment };

export const listOwnTasksResponse = z
  .object({
    bot: botForPlayer,
    unit: namedReward.shape.unit
      .optional()
      .describe("The word after an amount of this bot, where its settings name one."),
    task_grant: z
      .string()
      .optional()
      .describe("For the calls that follow, for 12 hours: launch data grows old. A secret, to be kept in memory."),
    tasks: z.array(ownTask).describe("Those that are open, then those that are over, the newest first: at most 25."),
    ...serverTime,
  })
  .meta({ examples: playerTaskExamples.listOwnTasksResponse });
export type ListOwnTasksResponse = z.infer<typeof listOwnTasksResponse>;

export const openTaskResponse = z
  .object({
    outcome: z
      .enum(["opened", "over", "no-ad", "unavailable"])
      .describe(
        "`over`: it has ended or is done; `no-ad`: nothing is left of the budget; `unavailable`: Telegram makes no link now, try again in seconds.",
      ),
    link: z.string().optional().describe("With `opened`: an invite for this user alone, or the start of the bot."),
    task: ownTask,
    ...serverTime,
  })
  .meta({ examples: playerTaskExamples.openTaskResponse });
export type OpenTaskResponse = z.infer<typeof openTaskResponse>;

export const checkOwnTaskResponse = z
  .object({ task: ownTask, ...serverTime })
  .meta({ examples: playerTaskExamples.checkOwnTaskResponse });
export type CheckOwnTaskResponse = z.infer<typeof checkOwnTaskResponse>;
