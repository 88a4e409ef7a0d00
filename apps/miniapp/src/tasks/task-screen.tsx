import type { OwnTask } from "@intermission/ad-core/player-task-api";
import { useEffect, useRef } from "react";
import { RefusedEntry } from "../entry/refused-entry.tsx";
import { UnreachableEntry } from "../entry/unreachable-entry.tsx";
import type { Host } from "../telegram/host.ts";
import type { TaskCalls } from "./task-calls.ts";
import { TaskList, Waiting } from "./task-list.tsx";
import { useCredits, usePolls } from "./use-credits.ts";
import { useTaskList } from "./use-task-list.ts";

interface TaskScreenProps {
  calls: TaskCalls;
  initData: string;
  host: Host;
  /** Tells the page around a frame what the list came to. */
  onNews: (news: { shown: true } | { refused: string } | { unreachable: true }) => void;
}

/** The list: asked for when it opens, and again when its user comes back from a channel. */
export function TaskScreen({ calls, initData, host, onNews }: TaskScreenProps) {
  const { listed, extras, load, change, open, check } = useTaskList(calls, host);
  useEffect(() => {
    if (listed.phase === "listed") onNews({ shown: true });
    if (listed.phase === "refused") onNews({ refused: listed.code });
    if (listed.phase === "unreachable") onNews({ unreachable: true });
  }, [listed, onNews]);

  const answer = listed.phase === "listed" ? listed.answer : undefined;
  const opened = openedCodes(answer?.tasks);
  useReturn(host, () => {
    if (opened.length === 0) load();
    for (const code of opened) check(code);
  });
  useCredits({ answer, initData, extras, onCredit: (code, credited) => change(code, { credited }) });
  const isConfirming = answer?.tasks.some((task) => task.is_confirming) ?? false;
  usePolls(isConfirming, load);

  switch (listed.phase) {
    case "waiting":
      return <Waiting />;
    case "unreachable":
      return <UnreachableEntry onRetry={load} />;
    case "refused":
      return <RefusedEntry {...listed} host={host} onAnother={host.close} />;
    case "listed":
      return (
        <TaskList
          tasks={listed.answer.tasks.map((task) => ({ task, ...extras[task.code] }))}
          unit={listed.answer.unit}
          onOpen={open}
          onCheck={check}
          onClose={host.close}
        />
      );
    default:
      return listed satisfies never;
  }
}

const openedCodes = (tasks: readonly OwnTask[] = []): string[] =>
  tasks.filter(({ state, is_confirming }) => state === "opened" && !is_confirming).map(({ code }) => code);

/** Calls when the user sees this page again. */
function useReturn(host: Host, onReturn: () => void): void {
  const latest = useRef(onReturn);
  latest.current = onReturn;
  useEffect(() => {
    let wasAway = false;
    const hear = (isVisible: boolean) => {
      if (isVisible && wasAway) latest.current();
      wasAway = !isVisible;
    };
    const onChange = () => hear(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", onChange);
    const stop = host.onVisibility(hear);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", onChange);
    };
  }, [host]);
}
