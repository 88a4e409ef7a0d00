import { taskState } from "@intermission/ad-core/event-words";
import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { forms } from "./field-forms.ts";
import { after, listedId, listLimit, micros, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

/**
 * Why a join does not count: of another user, by another link, of a user who has joined for this campaign before, or who was a
 * member when the task was offered.
 */
export const taskVoidReason = z.enum(["other-user", "other-link", "joined-before", "member-before"]);
export type TaskVoidReason = z.output<typeof taskVoidReason>;

/** How a join is known: Telegram reported it with the code's own link, or named the user a member when asked. */
export const taskProof = z.enum(["link", "membership"]);
export type TaskProof = z.output<typeof taskProof>;

/** What the task bot may do in a channel. */
export const channelRights = z.enum(["ready", "not-admin", "cannot-invite", "unknown"]);
export type ChannelRights = z.output<typeof channelRights>;

const taskBot = z.object({
  taskBotId: z.string(),
  username: z.string().describe("Without the @."),
  channels: z.int(),
  addedAt: moment,
  quietUntil: moment.nullable().describe("Telegram has asked for a pause; null: nothing is in the way."),
});

const taskChannel = z.object({
  chatId: z.string(),
  taskBotId: z.string(),
  title: z.string(),
  username: z.string().nullable(),
  approvesRequests: z.boolean().describe("Links ask for a request to join, which the task bot approves."),
  rights: channelRights.describe("`ready`: the bot is an administrator who may invite users."),
  checkedAt: moment,
});

const task = z.object({
  code: z.string(),
  botId: z.string(),
  userId: z.string(),
  campaignId: z.string(),
  chatId: z.string(),
  state: taskState,
  voidReason: taskVoidReason.nullable(),
  proof: taskProof.nullable(),
  isTest: z.boolean(),
  isPaid: z.boolean(),
  isReversed: z.boolean(),
  priceMicros: micros,
  offeredAt: moment,
  expiresAt: moment,
  joinedAt: moment.nullable(),
  heldUntil: moment.nullable(),
  leftAt: moment.nullable(),
});

const newTaskBot = z
  .strictObject({ token: z.string().regex(forms.BOT_TOKEN, "must be a token of BotFather") })
  .meta({ examples: [{ token: "7000000009:AAExampleExampleExampleExampleExample1" }] });

const newTaskChannel = z
  .strictObject({
    chat: z
      .string()
      .regex(forms.TELEGRAM_CHAT, "must be the id of a chat, such as -1001234567890, or its @name")
      .describe("The channel or group; the task bot must be an administrator who may invite users."),
    approvesRequests: z.boolean().default(false),
  })
  .meta({ examples: [{ chat: "-1001234567890" }] });

const page = z.object({ after, limit: listLimit });
const channelParams = z.object({ chatId: z.string().regex(/^-[1-9][0-9]{0,19}$/, "must be the id of a channel") });

export const taskRoutes = {
  addTaskBot: {
    method: "POST",
    path: "/task-bots",
    description: "Adds a task bot by its token, which Telegram is asked about, or replaces the token of a known one.",
    body: newTaskBot,
    status: 201,
    answer: taskBot,
    refusals: [409],
  },
  listTaskBots: {
    method: "GET",
    path: "/task-bots",
    description: "Lists the task bots.",
    query: page,
    answer: z.object({ taskBots: z.array(taskBot), next }),
  },
  addTaskChannel: {
    method: "POST",
    path: "/task-bots/:taskBotId/channels",
    description:
      "Adds a channel or group to a task bot, with what the bot may do there now. A channel belongs to one task bot.",
    params: z.object({ taskBotId: telegramId }),
    body: newTaskChannel,
    status: 201,
    answer: taskChannel,
    refusals: [409],
  },
  checkTaskChannel: {
    method: "POST",
    path: "/task-channels/:chatId/check",
    description: "Asks Telegram what the task bot may do in a channel now.",
    params: channelParams,
    answer: taskChannel,
  },
  listTaskChannels: {
    method: "GET",
    path: "/task-channels",
    description: "Lists the channels of the task bots.",
    query: page,
    answer: z.object({ channels: z.array(taskChannel), next }),
  },
  listTasks: {
    method: "GET",
    path: "/tasks",
    description: "Lists tasks with their states and proofs, the latest first.",
    query: z.object({
      campaignId: listedId.optional(),
      botId: telegramId.optional(),
      userId: telegramId.optional(),
      state: taskState.optional(),
      after,
      limit: listLimit,
    }),
    answer: z.object({ tasks: z.array(task), next }),
  },
} as const satisfies OperatorRoutes;
