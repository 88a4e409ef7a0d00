import type { OwnTask } from "@intermission/ad-core/player-task-api";
import type { Tone } from "../ui/notice.tsx";

/** A text of the list about a task's state. */
export type TaskLine =
  | "afterwards"
  | "toJoin"
  | "toStart"
  | "confirming"
  | "earned"
  | "waiting"
  | "kept"
  | "reversed"
  | "left"
  | "void"
  | "over";

export interface TaskView {
  /** Undefined: the task has nothing to say beside its terms. */
  readonly line: TaskLine | undefined;
  readonly tone: Tone;
  readonly isWaiting: boolean;
  /** What its user can do. */
  readonly actions: readonly ("open" | "check")[];
}

/** How a task is shown. Of a task that is over, only what became of the reward matters. */
export function describeTask(task: OwnTask): TaskView {
  const { state, kind, paid_at: paidAt, payment } = task;
  const isPaid = payment === "paid";
  switch (state) {
    case "offered":
      return shown(paidAt === "kept" ? "afterwards" : undefined, { actions: ["open"] });
    case "opened":
      if (task.is_confirming) return shown("confirming", { isWaiting: true });
      return shown(kind === "start" ? "toStart" : "toJoin", { actions: ["check", "open"] });
    case "held":
      return isPaid ? shown("earned", { tone: "good" }) : shown("waiting", { isWaiting: true });
    case "kept":
      return shown("kept", { tone: "good" });
    case "left":
      return shown(payment === "reversed" ? "reversed" : "left", { tone: "bad" });
    case "void":
      return shown("void", { tone: "bad" });
    case "lapsed":
      return shown("over", {});
    default:
      return state satisfies never;
  }
}

const shown = (line: TaskLine | undefined, more: Partial<TaskView>): TaskView => ({
  line,
  tone: "plain",
  isWaiting: false,
  actions: [],
  ...more,
});
