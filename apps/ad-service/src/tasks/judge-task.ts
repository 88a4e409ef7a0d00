import type { TaskState } from "@intermission/ad-core/event-words";
import type { TaskPayment } from "@intermission/operator-api/campaign-words";
import type { TaskProof, TaskVoidReason } from "@intermission/operator-api/tasks";

/** A task as it is stored, as far as facts change it. */
export interface Task {
  userId: string;
  state: TaskState;
  paidAt: TaskPayment;
  holdDays: number;
  expiresAt: Date;
  joinedAt: Date | null;
  heldUntil: Date | null;
  /** Also of a user whose join was not reported yet: facts may come in any order. */
  leftAt: Date | null;
  isPaid: boolean;
  hasLink: boolean;
  wasOut: boolean;
  /** The user has joined for the same campaign with another task, of whichever bot. */
  hasJoinedBefore: boolean;
  /** Of a lapsed task, whose place in the budgets others may have taken: whether they have room for it again. */
  hasBudget: boolean;
}

/** What Telegram knows of a user in a chat. Whatever is no answer is `unknown`: it never counts as done. */
export type Membership = "in" | "out" | "banned" | "unknown";

/** What becomes known of a task. `at`: when it happened, not when it arrived. */
export type TaskFact =
  /** The user, or whoever has the address, opened it and gets the link. */
  | { kind: "opened"; at: Date }
  /** A user joined by the link of this task's code, or started its bot with the code. */
  | { kind: "joined"; userId: string; at: Date; proof?: "link" | "postback" }
  /** The task's user joined, and not by this link. */
  | { kind: "joined-otherwise"; at: Date }
  | { kind: "left"; at: Date }
  /** An administrator has removed the user. */
  | { kind: "removed"; at: Date }
  /** Telegram's answer about the user now. */
  | { kind: "checked"; membership: Membership; at: Date }
  /** The end of the offer has passed. */
  | { kind: "expired"; at: Date };

/** Why a fact changes nothing. */
export type StayReason = "again" | "over" | "late" | "unknown" | "not-yet" | "not-joined" | "no-budget";

export interface TaskMove {
  outcome: "moves";
  state: TaskState;
  /** The event that is made with it. */
  event: "task" | "task_reversed" | null;
  voidReason: TaskVoidReason | null;
  proof: TaskProof | null;
  joinedAt: Date | null;
  heldUntil: Date | null;
  leftAt: Date | null;
}

/** `leftAt`: it is remembered for a join that is reported later. */
export type TaskVerdict = TaskMove | { outcome: "stays"; reason: StayReason; leftAt?: Date };

const DAY_MS = 86_400_000;

/**
 * What a fact does to a task: offered → opened → joined → held → kept | left. `joined` is passed at once: it is the moment
 * `joinedAt`, and the hold begins with it. An offer may also end without a join (`lapsed`), or by one that does not count
 * (`void`).
 *
 * Each fact may come twice, late or before an earlier one; a task pays once at most, and takes back only what it paid.
 */
export function judgeTask(task: Task, fact: TaskFact): TaskVerdict {
  switch (fact.kind) {
    case "opened":
      if (task.state === "offered" && fact.at < task.expiresAt) return move(task, "opened");
      return stays(task.state === "opened" ? "again" : "over");
    case "joined":
      return judgeJoin(task, fact);
    case "joined-otherwise":
      return isOpen(task) ? voided(task, "other-link") : stays("over");
    case "left":
    case "removed":
      return judgeLeave(task, fact);
    case "checked":
      return judgeCheck(task, fact);
    case "expired":
      if (fact.at < task.expiresAt) return stays("not-yet");
      return isOpen(task) ? move(task, "lapsed") : stays("over");
    default:
      return fact satisfies never;
  }
}

/** `open`: the user may still join; `late`: a join that was made in time may still be reported. */
const stages = {
  offered: "open",
  opened: "open",
  lapsed: "late",
  held: "held",
  kept: "over",
  left: "over",
  void: "over",
} satisfies Record<TaskState, "open" | "late" | "held" | "over">;

export const isOpen = ({ state }: { state: TaskState }) => stages[state] === "open";
const mayJoin = ({ state }: Task) => stages[state] === "open" || stages[state] === "late";

/** Whether a join is paid at once. */
const isPaidAtJoin = { joined: true, kept: false } satisfies Record<TaskPayment, boolean>;

function judgeJoin(task: Task, { userId, at, proof = "link" }: Extract<TaskFact, { kind: "joined" }>): TaskVerdict {
  // A join in time may be reported after the end of its offer.
  if (!mayJoin(task)) return stays(task.joinedAt === null ? "over" : "again");
  if (userId !== task.userId) return isOpen(task) ? voided(task, "other-user") : stays("over");
  if (at > task.expiresAt) return stays("late");
  if (task.state === "lapsed" && !task.hasBudget) return stays("no-budget");
  return joined(task, at, proof);
}

function joined(task: Task, at: Date, proof: TaskProof): TaskVerdict {
  if (task.hasJoinedBefore) return voided(task, "joined-before");
  // Who leaves to join again was a member when the task was offered.
  if (task.leftAt !== null && task.leftAt < at) return voided(task, "member-before");
  const heldUntil = new Date(at.getTime() + task.holdDays * DAY_MS);
  const dates = { proof, joinedAt: at, heldUntil };
  // The report of a leave may come before that of the join.
  if (task.leftAt !== null && task.leftAt < heldUntil) return move(task, "left", dates);
  const state = task.holdDays === 0 ? "kept" : "held";
  const isDue = isPaidAtJoin[task.paidAt] || state === "kept";
  return move(task, state, { ...dates, event: isDue ? "task" : null });
}

function judgeLeave(task: Task, { kind, at }: Extract<TaskFact, { kind: "left" | "removed" }>): TaskVerdict {
  if (mayJoin(task)) return { ...stays("not-joined"), leftAt: at };
  // The leave is counted, and changes no money.
  if (task.state === "kept" && task.leftAt === null && task.joinedAt !== null && at > task.joinedAt)
    return { ...stays("over"), leftAt: at };
  if (stages[task.state] !== "held") return stays(task.state === "left" ? "again" : "over");
  if (task.joinedAt === null || task.heldUntil === null) throw new Error("a held task has no join");
  if (at < task.joinedAt) return stays("late");
  if (at >= task.heldUntil) return kept(task);
  // Otherwise an advertiser could take a reward back, and the price, by removing the user.
  return kind === "removed" ? { ...kept(task), leftAt: at } : left(task, at);
}

function judgeCheck(task: Task, { membership, at }: { membership: Membership; at: Date }): TaskVerdict {
  switch (membership) {
    case "unknown":
      return stays("unknown");
    case "out":
      if (isOpen(task)) return stays("not-joined");
      // Whether a user who is out at the end left before or after it is not known: it is not paid.
      return stages[task.state] === "held" ? left(task, at) : stays("over");
    case "banned":
      if (isOpen(task)) return stays("not-joined");
      if (stages[task.state] !== "held") return stays("over");
      // No report says whether the user left before: nothing more is paid, and nothing is taken back.
      return task.isPaid ? { ...kept(task), leftAt: at } : left(task, at);
    case "in":
      if (isOpen(task)) return judgeMember(task, at);
      if (stages[task.state] !== "held" || task.heldUntil === null) return stays("over");
      return at >= task.heldUntil ? kept(task) : stays("not-yet");
    default:
      return membership satisfies never;
  }
}

/** Of a user who is in the chat, and whose join no update has reported. */
function judgeMember(task: Task, at: Date): TaskVerdict {
  if (at > task.expiresAt) return stays("late");
  return task.wasOut && task.state === "opened" ? joined(task, at, "membership") : stays("unknown");
}

const kept = (task: Task) => move(task, "kept", { event: task.isPaid ? null : "task" });
const left = (task: Task, at: Date) => move(task, "left", { leftAt: at, event: task.isPaid ? "task_reversed" : null });
const voided = (task: Task, voidReason: TaskVoidReason) => move(task, "void", { voidReason });

function move(task: Task, state: TaskState, changes: Partial<TaskMove> = {}): TaskMove {
  const { joinedAt, heldUntil, leftAt } = task;
  return {
    outcome: "moves",
    state,
    event: null,
    voidReason: null,
    proof: null,
    joinedAt,
    heldUntil,
    leftAt,
    ...changes,
  };
}

const stays = (reason: StayReason) => ({ outcome: "stays" as const, reason });
