import type { AnswerOf } from "@intermission/operator-api/route";
import type { taskRoutes } from "@intermission/operator-api/tasks";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { BotName } from "../session/bot-picker.tsx";
import { CampaignName } from "../session/campaign-picker.tsx";
import { useMay } from "../session/use-session.ts";
import { DataTable, type Pages } from "../ui/data-table.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { taskProofWords, taskStateWords, taskVoidWords, taskWords } from "./words.ts";

type Task = AnswerOf<typeof taskRoutes.listTasks>["tasks"][number];

const looks = {
  offered: "",
  opened: "",
  held: "pill-late",
  kept: "pill-good",
  left: "pill-bad",
  lapsed: "",
  void: "pill-bad",
} satisfies Record<Task["state"], string>;

/** Tasks, the latest offers first. Each opens its history. */
export function TaskTable({ rows, pages, empty }: { rows: readonly Task[]; pages: Pages; empty: ReactNode }) {
  const words = useWords(taskWords);
  const { dateTime, ago } = useFormats();
  const may = useMay();
  const [opened, setOpened] = useState<Task>();
  return (
    <>
      <DataTable
        label={words.joins}
        rows={rows}
        pages={pages}
        empty={empty}
        keyOf={({ code }) => code}
        columns={[
          {
            title: words.task,
            cell: (task) => (
              <button type="button" className="link row-link" onClick={() => setOpened(task)}>
                {task.title}
              </button>
            ),
          },
          { title: words.state, cell: (task) => <StatePill task={task} /> },
          ...(may("listCampaigns")
            ? [{ title: words.campaign, cell: ({ campaignId }: Task) => <CampaignName campaignId={campaignId} /> }]
            : []),
          ...(may("showBot")
            ? [
                { title: words.bot, cell: ({ botId }: Task) => <BotName botId={botId} /> },
                { title: words.user, cell: ({ userId }: Task) => <User userId={userId} /> },
              ]
            : []),
          {
            title: words.joined,
            cell: ({ joinedAt }) => joinedAt && <span title={dateTime(joinedAt)}>{ago(joinedAt)}</span>,
          },
          {
            title: words.left,
            cell: ({ leftAt }) => leftAt && <span title={dateTime(leftAt)}>{ago(leftAt)}</span>,
          },
          { title: words.pay, cell: (task) => <Pay task={task} /> },
        ]}
      />
      {opened && <HistoryDialog task={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function StatePill({ task: { state } }: { task: Task }) {
  return <span className={`pill ${looks[state]}`}>{taskStateWords[useLanguage()][state]}</span>;
}

function User({ userId }: { userId: string | null }) {
  const may = useMay();
  if (userId === null) return null;
  if (!may("findTimelines")) return userId;
  return (
    <Link to="/timeline" search={{ find: userId }} className="link">
      {userId}
    </Link>
  );
}

function Pay({ task: { isPaid, isReversed, isTest } }: { task: Task }) {
  const words = useWords(taskWords);
  if (isTest) return words.test;
  if (isReversed) return words.isReversed;
  return isPaid ? words.isPaid : null;
}

function HistoryDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const words = useWords(taskWords);
  const language = useLanguage();
  const { dateTime } = useFormats();
  const { state, voidReason, proof, isReversed, offeredAt, openedAt, joinedAt, heldUntil, keptAt, leftAt } = task;
  const steps = [
    [words.steps.offered, offeredAt],
    [words.steps.opened, openedAt],
    [task.chatId === null ? words.steps.started : words.steps.joined, joinedAt],
    [words.steps.kept, task.chatId === null ? null : keptAt],
    [isReversed ? words.steps.reversed : words.steps.left, leftAt],
    [words.steps.heldUntil, state === "held" ? heldUntil : null],
    [words.steps.expires, state === "offered" || state === "opened" ? task.expiresAt : null],
  ] as const;
  // Telegram's moments are whole seconds, so that a join may seem to come before its opening.
  const past = steps.filter(([, at]) => at !== null);
  return (
    <Dialog title={task.title} onClose={onClose}>
      <p>
        <StatePill task={task} /> <Pay task={task} />
      </p>
      {voidReason !== null && <p>{taskVoidWords[language][voidReason]}</p>}
      {proof !== null && <p>{taskProofWords[language][proof]}</p>}
      <dl className="facts">
        {past.map(([title, at]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{at && dateTime(at)}</dd>
          </div>
        ))}
      </dl>
      <p className="hint">
        {words.code}: <code>{task.code}</code>
      </p>
    </Dialog>
  );
}
