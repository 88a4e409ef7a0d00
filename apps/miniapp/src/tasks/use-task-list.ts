import type { ListOwnTasksResponse, OwnTask } from "@intermission/ad-core/player-task-api";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Answer } from "../ad-service-client.ts";
import { retryPauseMs } from "../retry-pause.ts";
import type { Host } from "../telegram/host.ts";
import type { TaskCalls } from "./task-calls.ts";
import type { Extra } from "./use-credits.ts";

type Listed =
  | { phase: "waiting" | "unreachable" }
  | { phase: "refused"; code: string; requestId: string | null; botLink?: string }
  | { phase: "listed"; answer: ListOwnTasksResponse };

/** The answers of the ad service about the user's tasks, and what their taps do. */
export function useTaskList(calls: TaskCalls, host: Host) {
  const [listed, setListed] = useState<Listed>({ phase: "waiting" });
  const [extras, setExtras] = useState<Readonly<Record<string, Extra>>>({});
  const [attempt, setAttempt] = useState(0);
  const failures = useRef(0);
  const load = useCallback(() => setAttempt((count) => count + 1), []);

  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    calls.list().then((answer) => {
      if (!isCurrent) return;
      if (answer.outcome === "unreachable")
        timer = setTimeout(load, retryPauseMs(failures.current++, 1000, 8000, answer.retryAfterMs));
      else failures.current = 0;
      setListed((before) => nextListed(before, answer));
    });
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [calls, load, attempt]);

  const change = useCallback((code: string, extra: Extra, task?: OwnTask) => {
    setExtras((all) => ({ ...all, [code]: { ...all[code], ...extra } }));
    if (task) setListed((before) => withTask(before, task));
  }, []);

  const open = async (code: string) => {
    change(code, { isBusy: true, note: undefined });
    const answer = await calls.open(code);
    if (answer.outcome !== "answered") return change(code, { isBusy: false, note: "busy" });
    const { outcome, link, task } = answer.body;
    change(code, { isBusy: false, note: notes[outcome] }, task);
    if (link !== undefined) openLink(host, link);
    return undefined;
  };

  const check = useCallback(
    async (code: string) => {
      change(code, { isBusy: true, note: undefined });
      const answer = await calls.check(code);
      if (answer.outcome !== "answered") return change(code, { isBusy: false, note: "busy" });
      const { task } = answer.body;
      const isOpen = task.state === "opened" && task.is_confirming === undefined;
      return change(code, { isBusy: false, note: isOpen ? "notYet" : undefined }, task);
    },
    [calls, change],
  );

  return { listed, extras, load, change, open, check };
}

const notes = { opened: undefined, over: "over", "no-ad": "over", unavailable: "busy" } as const;

/** A list that is shown stays while the service is not reached. */
function nextListed(before: Listed, answer: Answer<ListOwnTasksResponse>): Listed {
  if (answer.outcome === "unreachable") return before.phase === "listed" ? before : { phase: "unreachable" };
  if (answer.outcome === "answered") return { phase: "listed", answer: answer.body };
  const { code, requestId, botLink } = answer;
  return { phase: "refused", code, requestId, ...(botLink && { botLink }) };
}

function withTask(before: Listed, task: OwnTask): Listed {
  if (before.phase !== "listed") return before;
  const tasks = before.answer.tasks.map((each) => (each.code === task.code ? task : each));
  return { phase: "listed", answer: { ...before.answer, tasks } };
}

/** Telegram opens its own links beside this window; the answer to a tap may be too late for a new one. */
function openLink(host: Host, link: string): void {
  const isOpened = link.startsWith("https://t.me/") ? host.openTelegramLink(link) : host.openLink(link);
  if (!isOpened) window.open(link, "_blank", "noopener");
}
