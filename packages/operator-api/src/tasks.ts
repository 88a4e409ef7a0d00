import { taskState } from "@intermission/ad-core/event-words";
import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { forms } from "./field-forms.ts";
import { after, boundedText, listedId, listLimit, micros, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

/**
 * Why a join does not count: of another user, by another link, of a user who has joined for this campaign before, or who was a
 * member when the task was offered.
 */
export const taskVoidReason = z.enum(["other-user", "other-link", "joined-before", "member-before"]);
export type TaskVoidReason = z.output<typeof taskVoidReason>;

/**
 * The proof of a task: Telegram reported the join with the code's own link, or confirmed the membership on request; or the
 * advertiser's bot reported the start.
 */
export const taskProof = z.enum(["link", "membership", "postback"]);
export type TaskProof = z.output<typeof taskProof>;

/** What the task bot may do in a channel. */
export const channelRights = z.enum(["ready", "not-admin", "cannot-invite", "unknown"]);
export type ChannelRights = z.output<typeof channelRights>;

/** How a node gets a task bot's updates. */
export const taskUpdatesBy = z.enum(["polling", "webhook"]);
export type TaskUpdatesBy = z.output<typeof taskUpdatesBy>;

const taskBot = z.object({
  taskBotId: z.string(),
  username: z.string().describe("Without the @."),
  channels: z.int(),
  addedAt: moment,
  quietUntil: moment.nullable().describe("Telegram has asked for a pause; null: nothing is in the way."),
  updatesBy: taskUpdatesBy.describe("`polling`: a node reads them; `webhook`: Telegram calls this service."),
  webhookSetAt: moment
    .nullable()
    .describe("When Telegram last confirmed the webhook; null: there is none, or not yet."),
  webhookFault: z.string().nullable().describe("Why Telegram's last call failed, or was not confirmed."),
});

const taskChannel = z.object({
  chatId: z.string(),
  taskBotId: z.string(),
  title: z.string(),
  username: z.string().nullable(),
  advertiserId: z.string().nullable().describe("Whose it is; null: the operator added it."),
  approvesRequests: z.boolean().describe("Links ask for a request to join, which the task bot approves."),
  rights: channelRights.describe("`ready`: the bot is an administrator who may invite users."),
  checkedAt: moment,
});

const task = z.object({
  code: z.string(),
  botId: z.string(),
  userId: z.string().nullable().describe("Not for advertisers."),
  campaignId: z.string(),
  chatId: z.string().nullable().describe("Null: the task is to start a bot."),
  title: z.string().describe("Of the channel or group, or the @name of the bot."),
  state: taskState,
  voidReason: taskVoidReason.nullable(),
  proof: taskProof.nullable(),
  isTest: z.boolean(),
  isPaid: z.boolean(),
  isReversed: z.boolean(),
  priceMicros: micros.nullable().describe("Not for publishers."),
  offeredAt: moment,
  expiresAt: moment,
  openedAt: moment.nullable(),
  joinedAt: moment.nullable(),
  heldUntil: moment.nullable(),
  keptAt: moment.nullable(),
  leftAt: moment.nullable().describe("The first time, also of who stayed for the days that are paid."),
});

const retentionOfDay = z.object({
  day: z.int(),
  joined: z.int().describe("Who joined at least so many days ago."),
  stayed: z.int().describe("Of these, who had not left by then."),
  unknown: z
    .int()
    .describe("Of these, about whom Telegram reported nothing: they count neither as members nor as gone."),
});

const newTaskBot = z
  .strictObject({ token: z.string().regex(forms.BOT_TOKEN, "must be a token of BotFather") })
  .meta({ examples: [{ token: "7000000009:AAExampleExampleExampleExampleExample1" }] });

const newTaskChannel = z
  .strictObject({
    chat: z
      .string()
      .regex(
        forms.TELEGRAM_CHANNEL,
        "must be the id of a channel, such as -1001234567890, its @name, or a link of t.me to it or to a message of it",
      )
      .describe("The channel or group; the task bot must be an administrator who may invite users."),
    approvesRequests: z.boolean().default(false),
  })
  .meta({ examples: [{ chat: "-1001234567890" }] });

const page = z.object({ after, limit: listLimit });
const advertiser = boundedText(128).optional().describe("Of one advertiser: its id, or its name in any case.");
const ofTasks = { advertiser, campaignId: listedId.optional(), botId: telegramId.optional() };
const MAX_SUMMED_DAYS = 400;
const summedDays = `must be a whole number from 1 to ${MAX_SUMMED_DAYS}`;
const channelParams = z.object({ chatId: z.string().regex(/^-[1-9][0-9]{0,19}$/, "must be the id of a channel") });

export const taskRoutes = {
  addTaskBot: {
    method: "POST",
    path: "/task-bots",
    access: grants.owner,
    changes: "task-bot",
    description: "Adds a task bot by its token, which Telegram is asked about, or replaces the token of a known one.",
    body: newTaskBot,
    status: 201,
    answer: taskBot,
    refusals: [409],
  },
  listTaskBots: {
    method: "GET",
    path: "/task-bots",
    // An advertiser makes one of them an administrator of its channel.
    access: { ...grants.readers, advertiser: "all" },
    description: "Lists the task bots.",
    query: page,
    answer: z.object({ taskBots: z.array(taskBot), next }),
  },
  setTaskUpdates: {
    method: "POST",
    path: "/task-bots/:taskBotId/updates",
    access: grants.owner,
    changes: "task-bot",
    description:
      "Chooses how Telegram's updates come: read by polling, or by a webhook with a secret token, for which PUBLIC_URL must be https. Nothing is lost or counted twice by the change.",
    params: z.object({ taskBotId: telegramId }),
    body: z.strictObject({ updatesBy: taskUpdatesBy }).meta({ examples: [{ updatesBy: "webhook" }] }),
    answer: taskBot,
    refusals: [409],
  },
  addTaskChannel: {
    method: "POST",
    path: "/task-bots/:taskBotId/channels",
    access: { ...grants.staff, ...grants.ownAdvertiser },
    changes: "task-channel",
    description:
      "Adds a channel or group to a task bot, with what the bot may do there now. A channel belongs to one task bot.",
    params: z.object({ taskBotId: telegramId }),
    query: z.object({ advertiser: advertiser.describe("Whose it is. Nobody takes it from its advertiser.") }),
    body: newTaskChannel,
    status: 201,
    answer: taskChannel,
    refusals: [409],
  },
  checkTaskChannel: {
    method: "POST",
    path: "/task-channels/:chatId/check",
    access: { ...grants.staff, ...grants.ownAdvertiser },
    changes: "task-channel",
    description: "Asks Telegram what the task bot may do in a channel now.",
    params: channelParams,
    query: z.object({ advertiser }),
    answer: taskChannel,
  },
  listTaskChannels: {
    method: "GET",
    path: "/task-channels",
    access: { ...grants.readers, ...grants.ownAdvertiser },
    description: "Lists the channels of the task bots.",
    query: page.extend({ advertiser }),
    answer: z.object({ channels: z.array(taskChannel), next }),
  },
  listTasks: {
    method: "GET",
    path: "/tasks",
    access: { ...grants.readers, ...grants.ownBot, ...grants.ownAdvertiser },
    description: "Lists tasks with their states and proofs, the latest first.",
    query: z.object({
      ...ofTasks,
      userId: telegramId.optional(),
      state: taskState.optional(),
      after,
      limit: listLimit,
    }),
    answer: z.object({ tasks: z.array(task), next }),
  },
  sumTasks: {
    method: "GET",
    path: "/tasks/sums",
    access: { ...grants.readers, ...grants.ownBot, ...grants.ownAdvertiser },
    description:
      "How tasks ended that were offered in the last days, and how many who joined were still members by day.",
    query: z.object({
      ...ofTasks,
      days: z.coerce.number(summedDays).int(summedDays).min(1, summedDays).max(MAX_SUMMED_DAYS, summedDays).default(90),
    }),
    answer: z.object({
      states: z.partialRecord(taskState, z.int()),
      paid: z.int(),
      reversed: z.int(),
      retention: z.array(retentionOfDay),
    }),
  },
} as const satisfies OperatorRoutes;
