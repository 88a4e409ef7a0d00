import { fieldFault } from "@intermission/operator-api/field-forms";
import type { ReportReader } from "@intermission/operator-api/report-figures";
import { taskRoutes } from "@intermission/operator-api/tasks";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import { conflict, invalidField, notFound, refusal } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import { type ListedTask, listTasks, sumTasks } from "./list-tasks.ts";
import { setUpdatesBy, type WebhookCalls } from "./task-bot-webhook.ts";
import {
  type AddChannelOutcome,
  addTaskBot,
  addTaskChannel,
  checkTaskChannel,
  listTaskBots,
  listTaskChannels,
  MAX_CHANNELS,
  readTaskBot,
  type TaskChannel,
} from "./task-channels.ts";

interface TaskOperatorDeps extends WebhookCalls {
  now: () => Date;
  requireAdvertiser(nameOrId: string): Promise<{ advertiserId: string }>;
  reportReaderOf(request: FastifyRequest): ReportReader;
}

/** Task bots, their channels, and the tasks, for operators, advertisers and publishers. */
export function taskOperatorRoutes(scope: CheckedScope, deps: TaskOperatorDeps): void {
  const { database, now } = deps;
  const advertiserIdOf = async ({ advertiser }: { advertiser?: string | undefined }) =>
    advertiser === undefined ? undefined : (await deps.requireAdvertiser(advertiser)).advertiserId;
  const filterOf = async (query: { [Name in "botId" | "campaignId" | "advertiser"]?: string | undefined }) => {
    const { botId, campaignId } = query;
    await requireBots(database, [botId]);
    await requireCampaign(database, campaignId);
    return { botId, campaignId, advertiserId: await advertiserIdOf(query) };
  };
  const requireTaskBot = async (taskBotId: string) => {
    const bot = await readTaskBot(database, taskBotId);
    if (bot === undefined) throw notFound(`there is no task bot ${taskBotId}; see all with: task-bots list`);
    return bot;
  };
  const spendQuestion = limitQuestions(deps);
  serveOperatorRoutes(scope, taskRoutes, {
    async addTaskBot({ body: { token }, http }) {
      const added = await addTaskBot(deps, { token, author: authorOf(http) });
      if (added.outcome === "added") return added.value;
      throw conflict("TELEGRAM_REFUSES", added.why, { why: added.why });
    },

    async listTaskBots({ query }) {
      return listTaskBots(database, query);
    },

    async setTaskUpdates({ params: { taskBotId }, body: { updatesBy }, http }) {
      await requireTaskBot(taskBotId);
      const set = await setUpdatesBy(deps, { taskBotId, updatesBy, author: authorOf(http) });
      if (set.outcome === "refused") throw conflict("TELEGRAM_REFUSES", set.why, { why: set.why });
      return requireTaskBot(taskBotId);
    },

    async addTaskChannel({ params: { taskBotId }, query, body: { chat, approvesRequests }, http }) {
      await requireTaskBot(taskBotId);
      const advertiserId = await advertiserIdOf(query);
      spendQuestion(http, advertiserId);
      const added = await addTaskChannel(deps, {
        taskBotId,
        chat,
        approvesRequests,
        advertiserId,
        isOperator: deps.reportReaderOf(http) === "staff",
        author: authorOf(http),
        now: now(),
      });
      return addedChannel(added);
    },

    async checkTaskChannel({ params: { chatId }, query, http }) {
      const advertiserId = await advertiserIdOf(query);
      spendQuestion(http, advertiserId);
      const channel = await checkTaskChannel(deps, { chatId, advertiserId, author: authorOf(http), now: now() });
      if (channel === undefined)
        throw notFound(`no task bot knows channel ${chatId}; see all with: task-channels list`);
      return channel;
    },

    async listTaskChannels({ query }) {
      return listTaskChannels(database, { ...query, advertiserId: await advertiserIdOf(query) });
    },

    async listTasks({ query, http }) {
      const { userId, state, after, limit } = query;
      const reader = deps.reportReaderOf(http);
      // A filter by user would reveal the user ids that the answer hides.
      if (reader === "advertiser" && userId !== undefined)
        throw refusal(403, "FORBIDDEN", "advertisers see no users: leave out userId");
      const listed = await listTasks(database, { ...(await filterOf(query)), userId, state, after, limit });
      if (listed.outcome === "unknown-cursor")
        throw invalidField("after", "is not the next of an earlier page of tasks", fieldFault("CURSOR"));
      return { tasks: listed.tasks.map((task) => shownTo(reader, task)), next: listed.next };
    },

    async sumTasks({ query }) {
      return sumTasks(database, { ...(await filterOf(query)), days: query.days, now: now() });
    },
  });
}

/** Limits advertisers' requests to Telegram about channels: a pause that Telegram demands delays all tasks. */
function limitQuestions({ now, reportReaderOf }: TaskOperatorDeps) {
  const questions = rateLimiter({ quota: 10, windowSeconds: 300, maxKeys: 20_000 });
  return (http: FastifyRequest, advertiserId: string | undefined) => {
    if (advertiserId !== undefined && reportReaderOf(http) === "advertiser")
      spend(http, questions, advertiserId, now());
  };
}

function addedChannel(added: AddChannelOutcome): TaskChannel {
  switch (added.outcome) {
    case "added":
      return added.value;
    case "taken":
      throw conflict("CHANNEL_TAKEN", "the channel belongs to another task bot or advertiser");
    case "not-ready": {
      const message = "make the task bot an administrator of the channel who may invite users, then add it again";
      throw conflict("CHANNEL_NOT_READY", message);
    }
    case "too-many": {
      const message = `an advertiser has at most ${MAX_CHANNELS} channels: ask the operator to add one more`;
      throw conflict("TOO_MANY_CHANNELS", message, { max: String(MAX_CHANNELS) });
    }
    case "not-confirmed":
      throw conflict("TELEGRAM_REFUSES", added.why, { why: added.why });
    default:
      throw added satisfies never;
  }
}

/** Hides a publisher's users from advertisers, and prices from publishers. */
function shownTo(reader: ReportReader, task: ListedTask) {
  const { userId, priceMicros } = task;
  return {
    ...task,
    userId: reader === "advertiser" ? null : userId,
    priceMicros: reader === "publisher" ? null : priceMicros,
  };
}
