import type { AnswerOf } from "@intermission/operator-api/route";
import { type TaskUpdatesBy, taskRoutes } from "@intermission/operator-api/tasks";
import { useWholeList } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { taskWords } from "./words.ts";

type TaskBot = AnswerOf<typeof taskRoutes.listTaskBots>["taskBots"][number];

/** Each way of getting updates, with the other one that its button offers. */
const ways = {
  polling: { name: "byPolling", use: "useWebhook", other: "webhook" },
  webhook: { name: "byWebhook", use: "usePolling", other: "polling" },
} as const satisfies Record<TaskUpdatesBy, { name: string; use: string; other: TaskUpdatesBy }>;

/** The operator's task bots, with polling or webhook. */
export function TaskBots() {
  const words = useWords(taskWords);
  const bots = useWholeList(taskRoutes.listTaskBots);
  return (
    <AnswerView query={bots} rows={1}>
      {({ taskBots }) =>
        taskBots.length === 0 ? null : (
          <section className="stack" aria-labelledby="task-bots">
            <h2 id="task-bots">{words.taskBots}</h2>
            <DataTable
              label={words.taskBots}
              rows={taskBots}
              keyOf={({ taskBotId }) => taskBotId}
              columns={[
                { title: words.taskBot, cell: ({ username }) => `@${username}` },
                { title: words.channels, isNumber: true, cell: ({ channels }) => channels },
                { title: words.updates, cell: (bot) => <Updates bot={bot} /> },
                { title: "", cell: (bot) => <ChangeButton bot={bot} /> },
              ]}
            />
          </section>
        )
      }
    </AnswerView>
  );
}

function Updates({ bot: { updatesBy, webhookSetAt, webhookFault, quietUntil } }: { bot: TaskBot }) {
  const words = useWords(taskWords);
  const { clock } = useFormats();
  const isWaiting = updatesBy === "webhook" && webhookSetAt === null;
  return (
    <>
      {words[ways[updatesBy].name]}
      {quietUntil !== null && <p className="late">{words.quietUntil(clock(quietUntil))}</p>}
      {isWaiting && <p className="late">{words.webhookWaits}</p>}
      {webhookFault !== null && <p className="late">{webhookFault}</p>}
    </>
  );
}

function ChangeButton({ bot: { taskBotId, username, updatesBy } }: { bot: TaskBot }) {
  const words = useWords(taskWords);
  const change = useConfirmedChange(taskRoutes.setTaskUpdates);
  const { use, other } = ways[updatesBy];
  const text = words[use];
  return (
    <Button
      look="quiet"
      isBusy={change.isPending}
      aria-label={words.useFor({ action: text, username })}
      onClick={() => void change.run({ params: { taskBotId }, body: { updatesBy: other } })}
    >
      {text}
    </Button>
  );
}
