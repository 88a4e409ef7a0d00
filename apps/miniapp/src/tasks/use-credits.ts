import type { ListOwnTasksResponse } from "@intermission/ad-core/player-task-api";
import { useCallback, useEffect, useRef } from "react";
import type { ShownTask } from "./task-list.tsx";

/** Reports of joins take seconds; a membership that Telegram names counts within a minute. */
const POLL_MS = 5000;
const MAX_POLLS = 30;

/** What this page knows of a task beside the ad service's answer. */
export type Extra = Omit<ShownTask, "task">;

/** Polls while it is needed and the page is seen, for a few minutes. */
export function usePolls(isNeeded: boolean, poll: () => void): void {
  useEffect(() => {
    if (!isNeeded) return undefined;
    let polls = 0;
    const timer = setInterval(() => {
      if (++polls > MAX_POLLS) clearInterval(timer);
      else if (document.visibilityState === "visible") poll();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [isNeeded, poll]);
}

interface CreditsOptions {
  answer: ListOwnTasksResponse | undefined;
  initData: string;
  extras: Readonly<Record<string, Extra>>;
  onCredit: (code: string, amount: number | undefined) => void;
}

/** Reads from the publisher's own API what it has credited for paid tasks. Without an API, the state says that it was earned. */
export function useCredits({ answer, initData, extras, onCredit }: CreditsOptions): void {
  const reading = useRef<Promise<TaskStatusReader | null>>(undefined);
  const url = answer?.bot.publisher_api_url;
  const unknown = (answer?.tasks ?? [])
    .filter(({ code, payment }) => (payment === "paid") !== (extras[code]?.credited !== undefined))
    .map(({ code, payment }) => ({ code, isPaid: payment === "paid" }));
  const read = async () => {
    if (url === undefined || answer === undefined) return;
    // A file that few users need.
    reading.current ??= import("../publisher-api.ts").then(({ signInForTasks }) =>
      signInForTasks(url, answer.bot.bot_id, initData),
    );
    const readStatus = await reading.current.catch(() => undefined);
    if (!readStatus) {
      reading.current = undefined;
      return;
    }
    for (const { code, isPaid } of unknown) {
      if (!isPaid) onCredit(code, undefined);
      const status = isPaid ? await readStatus(code).catch(() => undefined) : undefined;
      if (status?.outcome === "credited") onCredit(code, status.amount);
    }
  };
  const latest = useRef(read);
  latest.current = read;
  const pending = url === undefined ? "" : unknown.map(({ code }) => code).join(" ");
  useEffect(() => {
    if (pending) latest.current();
  }, [pending]);
  const poll = useCallback(() => void latest.current(), []);
  usePolls(pending !== "", poll);
}

type TaskStatusReader = NonNullable<Awaited<ReturnType<typeof import("../publisher-api.ts")["signInForTasks"]>>>;
