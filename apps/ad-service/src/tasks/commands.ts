import { tableOf } from "@intermission/server/command-tables";
import { list, subject, verb, type WireAnswer } from "@intermission/server/route-commands";

export const taskBotCommands = subject("task-bots", "bots of yours that see who joins the channels of tasks", {
  add: verb("addTaskBot", {
    description: "add a task bot, or replace the token of one; Telegram is asked whose token it is",
    examples: ["--token 7000000009:AAExampleExampleExampleExampleExample1"],
    options: { token: { text: "of BotFather; stored encrypted", value: "token" } },
  }),
  "set-updates": verb("setTaskUpdates", {
    description: "choose how Telegram's updates come; nothing is lost or counted twice by the change",
    examples: ["7000000009 --updates-by webhook"],
    options: { updatesBy: "polling, or webhook: for it PUBLIC_URL must be https" },
  }),
  list: list("listTaskBots", "taskBots", {
    description: "all task bots",
    columns: {
      ID: "taskBotId",
      USERNAME: "username",
      CHANNELS: "channels",
      "UPDATES BY": "updatesBy",
      "WEBHOOK SET": "webhookSetAt",
      FAULT: "webhookFault",
      "QUIET UNTIL": "quietUntil",
    },
  }),
});

export const taskChannelCommands = subject("task-channels", "channels that tasks are about", {
  add: verb("addTaskChannel", {
    description: "add a channel to a task bot, which is an administrator there and may invite users",
    arguments: ["taskBotId"],
    examples: ["7000000009 --chat -1001234567890", "7000000009 --chat @example_news --approves-requests yes"],
    options: {
      chat: { text: "its id, or its @name", value: "chat" },
      advertiser: { text: "whose channel it is", value: "name" },
      approvesRequests: "its links ask for a request to join, which the task bot approves",
    },
  }),
  check: verb("checkTaskChannel", {
    description: "ask Telegram what the task bot may do in a channel now",
    without: ["advertiser"],
  }),
  list: list("listTaskChannels", "channels", {
    description: "all channels, with what their task bot may do",
    options: { advertiser: { text: "of one advertiser only", value: "name" } },
    columns: {
      CHANNEL: "chatId",
      TITLE: "title",
      "TASK BOT": "taskBotId",
      RIGHTS: "rights",
      "CHECKED AT": "checkedAt",
    },
  }),
});

const ofTasks = {
  campaignId: "of one campaign only",
  botId: "of one bot only",
  advertiser: { text: "of one advertiser only", value: "name" },
} as const;

export const taskCommands = subject("tasks", "tasks that users were offered, and their joins", {
  list: list("listTasks", "tasks", {
    description: "tasks, the latest offers first",
    examples: ["--campaign-id cmp_1 --state held", "--user-id 42 --json"],
    options: {
      ...ofTasks,
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
  sums: verb("sumTasks", {
    description: "how tasks ended, and how many who joined were still members by day",
    examples: ["", "--campaign-id cmp_1 --days 30"],
    options: { ...ofTasks, days: { text: "offered in so many days", value: "days" } },
    text: sumsText,
  }),
});

function sumsText({ states, paid, reversed, retention }: WireAnswer<"sumTasks">): string {
  const counts = Object.entries(states).map(([state, count]) => `${state} ${count}`);
  return [
    counts.length === 0 ? "no tasks" : counts.join(", "),
    `paid ${paid}, of which taken back ${reversed}`,
    "",
    tableOf(retention, { "AFTER DAYS": "day", JOINED: "joined", "STILL MEMBERS": "stayed", UNKNOWN: "unknown" }),
  ].join("\n");
}
