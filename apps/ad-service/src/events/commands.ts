import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import type { Columns } from "@intermission/server/command-tables";
import { addCsv, addInput, printList, subject, type WireAnswer } from "@intermission/server/route-commands";
import { Option } from "commander";

const columns: Columns<WireAnswer<"listEventsOfBot">["events"][number]> = {
  EVENT: "event_id",
  KIND: ({ event, test }) => `${event}${test === true ? " (test)" : ""}`,
  USER: "user_tg_id",
  CODE: "code",
  "EARNED AT": "occurred_at",
  DELIVERY: "delivery",
};

export const eventCommands = subject("events", "what users earned", {
  list: (command, context) => {
    const readInput = addInput<"listLatestEventsOfBot">(command, operatorRoutes.listLatestEventsOfBot, {
      description: "events of a bot, newest first, or with --after oldest first",
      examples: [
        "--bot-id 7000000001",
        "--bot-id 7000000001 --user-id 100000001 --from 2d",
        "--bot-id 7000000001 --after start --limit 1000 --json",
      ],
      options: {
        botId: "Telegram id of the bot",
        userId: "of one user only",
        before: { value: "event-id" },
        limit: { usual: 100 },
      },
    });
    const after = new Option(
      "--after <cursor>",
      "the publisher's feed in the order of commits, from this cursor on, or from its start",
    ).conflicts(["userId", "from", "to", "before"]);
    addCsv(command.addOption(after)).action(async () => {
      const input = await readInput(context);
      const cursor = command.opts<{ after?: string }>().after;
      const page = { columns, isPageInJson: true, cursor: cursor === undefined ? "before" : "after" } as const;
      if (cursor === undefined) {
        const nextOf = ({ hasMore, events }: WireAnswer<"listLatestEventsOfBot">) =>
          hasMore ? events.at(-1)?.event_id : null;
        return printList(
          context,
          command,
          { name: "listLatestEventsOfBot", key: "events", input },
          { ...page, nextOf },
        );
      }
      const query = { limit: input.query.limit, after: cursor === "start" ? undefined : cursor };
      const nextOf = ({ hasMore, next }: WireAnswer<"listEventsOfBot">) => (hasMore ? next : null);
      const list = { name: "listEventsOfBot", key: "events", input: { ...input, query } } as const;
      return printList(context, command, list, { ...page, nextOf });
    });
  },
});
