import type { NamedReward } from "@intermission/ad-core/client-api";
import type { OwnTask } from "@intermission/ad-core/player-task-api";
import { useEffect, useState } from "react";
import { formatMoment } from "../locales/format-time.ts";
import type { Translator } from "../locales/translate.ts";
import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Gain } from "../ui/gain.tsx";
import { useStateName } from "../ui/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { Heading } from "../ui/texts.tsx";
import { describeTask } from "./describe-task.ts";
import { loadTaskTexts } from "./texts/load-task-texts.ts";
import type { TaskTexts } from "./texts/task-texts.ts";

/** A task with what this page knows beside the ad service's answer. */
export interface ShownTask {
  readonly task: OwnTask;
  /** What the publisher has credited for it. */
  readonly credited?: number | undefined;
  readonly isBusy?: boolean;
  /** About the last tap. */
  readonly note?: "notYet" | "busy" | "over" | undefined;
}

interface TaskListProps {
  tasks: readonly ShownTask[];
  unit?: NamedReward["unit"] | undefined;
  onOpen: (code: string) => void;
  onCheck: (code: string) => void;
  onClose: () => void;
}

/** The user's tasks, each with its state and what can be done next. */
export function TaskList(props: TaskListProps) {
  const { language } = useTranslator();
  const [texts, setTexts] = useState<TaskTexts>();
  useEffect(() => {
    loadTaskTexts(language).then(setTexts);
  }, [language]);
  return texts ? <Tasks {...props} texts={texts} /> : <Waiting />;
}

export function Waiting() {
  const { text } = useTranslator();
  return <Notice isLive state="opening" icon="spinner" title={text("player.buffering")} />;
}

type WithTexts = TaskListProps & { texts: TaskTexts };

function Tasks({ tasks, texts, ...rest }: WithTexts) {
  const { text } = useTranslator();
  useEffect(() => {
    document.title = texts.title;
  }, [texts]);
  useStateName("tasks");
  const close = (look?: "secondary") => (
    <Button look={look ?? "primary"} onClick={rest.onClose}>
      {text("action.close")}
    </Button>
  );
  if (tasks.length === 0)
    return (
      <Notice state="tasks-none" icon="note" title={texts.empty} action={close()}>
        <p className="secondary">{texts.later}</p>
      </Notice>
    );
  return (
    <main className="notice">
      <div className="notice-body task-list">
        <Heading>{texts.title}</Heading>
        <p className="secondary">{texts.lead}</p>
        <ul>
          {tasks.map((each) => (
            <Task key={each.task.code} {...each} {...rest} texts={texts} />
          ))}
        </ul>
      </div>
      <div className="foot">{close("secondary")}</div>
    </main>
  );
}

type TaskProps = ShownTask & Omit<WithTexts, "tasks">;

function Task({ task, credited, isBusy = false, note: said, unit, texts, onOpen, onCheck }: TaskProps) {
  const translator = useTranslator();
  const { line, tone, isWaiting, actions: all } = describeTask(task);
  // A later answer may have ended what the tap was about.
  const note = all.length > 0 ? said : undefined;
  const actions = note === "over" ? [] : all;
  const shown = note ?? line;
  return (
    <li className="task" data-state={task.state}>
      <h2>
        <bdi>{task.title}</bdi>
      </h2>
      {actions.length > 0 && task.hold_days > 0 ? (
        <p className="secondary">{stayText(task, texts, translator)}</p>
      ) : null}
      <p className={`task-line tone-${note === undefined ? tone : "plain"}`} role="status">
        {isBusy || isWaiting ? <Icon name="clock" /> : tone === "plain" ? null : <Icon name={icons[tone]} />}
        <span>{shown && lineText(texts[shown], task, translator)}</span>
      </p>
      {credited === undefined ? null : (
        <p className="task-gain">
          <Gain amount={credited} {...(unit && { unit })} />{" "}
          <span className="secondary">{translator.text("credited.title")}</span>
        </p>
      )}
      {actions.map((action, at) => (
        <Button
          key={action}
          look={at === 0 ? "primary" : "secondary"}
          aria-label={`${actionText(action, task, texts)}: ${task.title}`}
          aria-disabled={isBusy}
          onClick={() => isBusy || (action === "open" ? onOpen : onCheck)(task.code)}
        >
          {actionText(action, task, texts)}
        </Button>
      ))}
    </li>
  );
}

const icons = { good: "check", bad: "note" } as const;

function actionText(action: "open" | "check", { state, kind }: OwnTask, texts: TaskTexts): string {
  if (action === "check") return texts.check;
  if (state === "opened") return texts.again;
  return kind === "start" ? texts.start : texts.join;
}

function lineText(text: string, { held_until: heldUntil }: OwnTask, { language }: Translator): string {
  return text.replace("{moment}", () => (heldUntil ? formatMoment(new Date(heldUntil), new Date(), language) : ""));
}

function stayText({ hold_days: days }: OwnTask, { stay }: TaskTexts, { language, amount }: Translator): string {
  const form = stay[new Intl.PluralRules(language).select(days)] ?? stay.other;
  return form.replace("{count}", () => amount({ amount: days })).replace(/(\p{Nd}) /u, "$1\u00a0");
}
