import { list, subject, verb } from "@intermission/server/route-commands";

export const taskBotCommands = subject("task-bots", "bots of yours that see who joins the channels of tasks", {
  add: verb("addTaskBot", {
    description: "add a task bot, or replace the token of one; Telegram is asked whose token it is",
    examples: ["--token 7000000009:AAExampleExampleExampleExampleExample1"],
    options: { token: { text: "of BotFather; stored encrypted", value: "token" } },
  }),
  list: list("listTaskBots", "taskBots", {
    description: "all task bots",
    columns: { ID: "taskBotId", USERNAME: "username", CHANNELS: "channels", "QUIET UNTIL": "quietUntil" },
  }),
});

export const taskChannelCommands = subject("task-channels", "channels that tasks are about", {
  add: verb("addTaskChannel", {
    description: "add a channel to a task bot, which is an administrator there and may invite users",
    arguments: ["taskBotId"],
    examples: ["7000000009 --chat -1001234567890", "7000000009 --chat @example_news --approves-requests yes"],
    options: {
      chat: { text: "its id, or its @name", value: "chat" },
      approvesRequests: "its links ask for a request to join, which the task bot approves",
    },
  }),
  check: verb("checkTaskChannel", { description: "ask Telegram what the task bot may do in a channel now" }),
  list: list("listTaskChannels", "channels", {
    description: "all channels, with what their task bot may do",
    columns: {
      CHANNEL: "chatId",
      TITLE: "title",
      "TASK BOT": "taskBotId",
      RIGHTS: "rights",
      "CHECKED AT": "checkedAt",
    },
  }),
});

export const taskCommands = subject("tasks", "tasks that users were offered, and their joins", {
  list: list("listTasks", "tasks", {
    description: "tasks, the latest offers first",
    examples: ["--campaign-id cmp_1 --state held", "--user-id 42 --json"],
    options: {
      campaignId: "of one campaign only",
      botId: "of one bot only",
      userId: "of one user only",
      state: "in one state only",
    },
    columns: {
      CODE: "code",
      BOT: "botId",
      USER: "userId",
      CAMPAIGN: "campaignId",
      STATE: ({ state, voidReason }) => (voidReason === null ? state : `${state} (${voidReason})`),
      PROOF: "proof",
      JOINED: "joinedAt",
      "HELD UNTIL": "heldUntil",
      LEFT: "leftAt",
    },
  }),
});
