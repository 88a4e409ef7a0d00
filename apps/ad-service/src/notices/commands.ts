import { type Columns, recordOf, tableOf } from "@intermission/server/command-tables";
import { subject, verb, type WireAnswer } from "@intermission/server/route-commands";

type Notices = WireAnswer<"showNotices">;

const columns: Columns<Notices["receivers"][number]> = {
  CHANNEL: "channel",
  ADDRESS: "address",
  HEALTH: "health",
  "LAST SENT AT": "lastSentAt",
  "DUE AT": "dueAt",
  ATTEMPTS: "attempts",
  "LAST ERROR": "lastError",
};

const text = ({ receivers, ...of }: Notices) =>
  receivers.length === 0
    ? recordOf({ ...of, receivers: "none; add one with: notices set" })
    : tableOf(receivers, columns);

export const noticeCommands = subject(
  "notices",
  "who is told when the endpoint of a bot fails, recovers or is disabled",
  {
    show: verb("showNotices", { description: "show these addresses, and why a notice was not sent", text }),
    set: verb("setNotices", {
      description: "set these addresses, one for each channel",
      examples: [
        "7000000001 --webhook-url https://ops.example.com/endpoint-health",
        "7000000001 --email ops@example.com --telegram-chat-id none",
      ],
      options: {
        webhookUrl: "an address other than the bot's webhook, sent signed JSON",
        email: { text: "sent by the mail server in SMTP_URL", value: "address" },
        telegramChatId: "sent by the bot in NOTICE_BOT_TOKEN",
      },
      text,
    }),
  },
);
