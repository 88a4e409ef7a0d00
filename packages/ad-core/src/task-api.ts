import { z } from "zod";
import { taskExamples } from "./api-examples.ts";
import { taskState } from "./event-words.ts";
import { currencyCode, revenueMicros } from "./listed-event.ts";
import { moment, telegramId } from "./wire-fields.ts";

/** The user's action: join a channel or group, or start a bot. */
export const taskKind = z.enum(["join", "start"]);
export type TaskKind = z.infer<typeof taskKind>;

/** Requests and answers of the tasks of `/client/v1`. */

export const listTasksRequest = z
  .object({
    bot_id: telegramId,
    user_tg_id: telegramId,
    reference: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe("The publisher's own key, which the webhooks of new offers echo."),
    language: z
      .string()
      .max(35)
      .optional()
      .describe("The user's `language_code`, for campaigns that are meant for some languages."),
  })
  .meta({ examples: taskExamples.listTasksRequest });

export const offeredTask = z
  .object({
    code: z.string().describe("The webhook names it."),
    state: taskState.describe(
      "`offered`, `opened`: to be done; `held`: the user has joined, and is to stay; `kept`, `left`: how that ended; `lapsed`, `void`: not done in time, or in a way that does not count.",
    ),
    kind: taskKind.describe("`join`: a channel or group; `start`: a bot."),
    title: z.string().describe("Of the channel or group to join, as Telegram names it; of a bot, its @name."),
    username: z.string().optional().describe("Of a bot or a public channel, without the @."),
    url: z
      .string()
      .describe(
        "For the button: it leads to a link that is this user's own: an invite that works once, or a start of the bot.",
      ),
    expires_at: moment,
    reference: z.string().optional(),
    hold_days: z.int().nonnegative().describe("So many days the user is to stay."),
    paid_at: z
      .enum(["joined", "kept"])
      .describe(
        "`joined`: `task` comes with the join, and `task_reversed` if the user leaves before these days are over; `kept`: `task` comes after these days.",
      ),
    revenue_micros: revenueMicros.optional(),
    currency: currencyCode.optional(),
  })
  .meta({ examples: taskExamples.offeredTask });
export type OfferedTask = z.infer<typeof offeredTask>;

export const listTasksResponse = z
  .object({
    tasks: z.array(offeredTask).describe("At most five. The same ones again until they end."),
    reason: z
      .enum(["not-enabled", "no-task"])
      .optional()
      .describe("Why the list is empty: the bot's setting `hasTasks` is off, or no task fits this user now."),
  })
  .meta({ examples: taskExamples.listTasksResponse });
export type ListTasksResponse = z.infer<typeof listTasksResponse>;
