import { taskRoutes } from "@intermission/operator-api/tasks";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import type { TaskBotCalls } from "./bot-api.ts";
import { listTasks } from "./list-tasks.ts";
import {
  addTaskBot,
  addTaskChannel,
  checkTaskChannel,
  isTaskBot,
  listTaskBots,
  listTaskChannels,
} from "./task-channels.ts";

/** Task bots, their channels, and the tasks, for the operator. */
export function taskOperatorRoutes(scope: CheckedScope, deps: TaskBotCalls & { now: () => Date }): void {
  const { database, now } = deps;
  serveOperatorRoutes(scope, taskRoutes, {
    async addTaskBot({ body: { token }, http }) {
      const added = await addTaskBot(deps, { token, author: authorOf(http) });
      if (added.outcome === "added") return added.value;
      throw conflict("TELEGRAM_REFUSES", added.why);
    },

    async listTaskBots({ query }) {
      return listTaskBots(database, query);
    },

    async addTaskChannel({ params: { taskBotId }, body: { chat, approvesRequests }, http }) {
      if (!(await isTaskBot(database, taskBotId)))
        throw notFound(`there is no task bot ${taskBotId}; see all with: task-bots list`);
      const of = { taskBotId, chat, approvesRequests, author: authorOf(http), now: now() };
      const added = await addTaskChannel(deps, of);
      if (added.outcome === "added") return added.value;
      if (added.outcome === "of-another-bot")
        throw conflict("CHANNEL_TAKEN", "the channel belongs to another task bot");
      throw conflict("TELEGRAM_REFUSES", added.why);
    },

    async checkTaskChannel({ params: { chatId }, http }) {
      const channel = await checkTaskChannel(deps, { chatId, author: authorOf(http), now: now() });
      if (channel === undefined)
        throw notFound(`no task bot knows channel ${chatId}; see all with: task-channels list`);
      return channel;
    },

    async listTaskChannels({ query }) {
      return listTaskChannels(database, query);
    },

    async listTasks({ query }) {
      await requireBots(database, [query.botId]);
      await requireCampaign(database, query.campaignId);
      return listTasks(database, query);
    },
  });
}
