import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeTask, type Membership, type StayReason, type Task, type TaskFact } from "./judge-task.ts";

const start = Date.UTC(2026, 2, 1, 12);
const at = (minutes: number) => new Date(start + minutes * 60_000);
const DAY = 24 * 60;

const offered: Task = {
  userId: "501",
  state: "offered",
  paidAt: "joined",
  holdDays: 7,
  expiresAt: at(60),
  joinedAt: null,
  heldUntil: null,
  leftAt: null,
  isPaid: false,
  hasLink: true,
  wasOut: true,
  hasJoinedBefore: false,
  hasBudget: true,
};

/** Applies facts one after another, as the rows are changed. */
function after(task: Task, ...facts: readonly TaskFact[]) {
  let now = task;
  const events: string[] = [];
  const stays: StayReason[] = [];
  for (const fact of facts) {
    const verdict = judgeTask(now, fact);
    if (verdict.outcome === "stays") {
      stays.push(verdict.reason);
      now = { ...now, leftAt: verdict.leftAt ?? now.leftAt };
      continue;
    }
    const { state, event, joinedAt, heldUntil, leftAt } = verdict;
    if (event !== null) events.push(event);
    now = { ...now, state, joinedAt, heldUntil, leftAt, isPaid: now.isPaid || event === "task" };
  }
  return { task: now, state: now.state, events, stays };
}

const opened: TaskFact = { kind: "opened", at: at(1) };
const joined: TaskFact = { kind: "joined", userId: "501", at: at(2) };
const left = (minutes: number): TaskFact => ({ kind: "left", at: at(minutes) });
const checked = (membership: Membership, minutes: number): TaskFact => ({
  kind: "checked",
  membership,
  at: at(minutes),
});

test("a join by the code's own link is paid at once and kept after its days", () => {
  expect(after(offered, opened, joined)).toMatchObject({ state: "held", events: ["task"] });
  expect(after(offered, opened, joined, checked("in", 2 + 7 * DAY))).toMatchObject({ state: "kept", events: ["task"] });
});

test("who leaves within the days is taken back once, who leaves later is not", () => {
  expect(after(offered, opened, joined, left(3), left(3))).toMatchObject({
    state: "left",
    events: ["task", "task_reversed"],
    stays: ["again"],
  });
  expect(after(offered, opened, joined, left(3 + 7 * DAY))).toMatchObject({ state: "kept", events: ["task"] });
});

test("whom an administrator removes within the days has done the task: it is paid if it was not, and never taken back", () => {
  const removed: TaskFact = { kind: "removed", at: at(3) };
  const later: Task = { ...offered, paidAt: "kept" };
  for (const task of [offered, later])
    expect(after(task, opened, joined, removed, removed, left(4), checked("out", 8 * DAY))).toMatchObject({
      state: "kept",
      events: ["task"],
    });
  // A removal that is reported before its join pays nothing, as a leave.
  expect(after(offered, opened, removed, joined)).toMatchObject({ state: "left", events: [] });
  expect(after(offered, opened, removed)).toMatchObject({ state: "opened", events: [] });
});

test("a ban that no report explains neither pays nor takes back", () => {
  const banned = checked("banned", 2 + 7 * DAY);
  expect(after(offered, opened, joined, banned)).toMatchObject({ state: "kept", events: ["task"] });
  expect(after({ ...offered, paidAt: "kept" }, opened, joined, banned)).toMatchObject({ state: "left", events: [] });
  expect(after(offered, opened, banned)).toMatchObject({ state: "opened", events: [] });
});

test("a task that is paid when it is kept pays nothing before, and nothing to who has left", () => {
  const later: Task = { ...offered, paidAt: "kept" };
  expect(after(later, opened, joined)).toMatchObject({ state: "held", events: [] });
  expect(after(later, opened, joined, left(10))).toMatchObject({ state: "left", events: [] });
  expect(after(later, opened, joined, checked("in", 2 + 7 * DAY))).toMatchObject({ state: "kept", events: ["task"] });
  expect(after({ ...later, holdDays: 0 }, opened, joined)).toMatchObject({ state: "kept", events: ["task"] });
});

test.each<[string, Task, TaskFact[], Partial<ReturnType<typeof after>>]>([
  ["another user by the link", offered, [opened, { ...joined, userId: "502" }, joined], { state: "void", events: [] }],
  [
    "the user by another link",
    offered,
    [opened, { kind: "joined-otherwise", at: at(2) }, joined],
    { state: "void", events: [] },
  ],
  ["a join twice", offered, [opened, joined, joined], { state: "held", events: ["task"], stays: ["again"] }],
  [
    "a join after the end",
    offered,
    [opened, { ...joined, at: at(61) }],
    { state: "opened", events: [], stays: ["late"] },
  ],
  [
    "a join in time that is reported after the end",
    offered,
    [opened, { kind: "expired", at: at(70) }, joined],
    { state: "held", events: ["task"] },
  ],
  ["a leave that is reported before its join", offered, [opened, left(3), joined], { state: "left", events: [] }],
  ["a member who leaves to join again", offered, [left(1), opened, joined], { state: "void", events: [] }],
  ["a join again after a leave", offered, [opened, joined, left(3), { ...joined, at: at(4) }], { state: "left" }],
  [
    "an answer that is none",
    offered,
    [opened, checked("unknown", 2)],
    { state: "opened", events: [], stays: ["unknown"] },
  ],
  [
    "no answer at the end of the days",
    { ...offered, paidAt: "kept" },
    [opened, joined, checked("unknown", 2 + 7 * DAY)],
    { state: "held", events: [], stays: ["unknown"] },
  ],
  ["a member without a report", offered, [opened, checked("in", 2)], { state: "held", events: ["task"] }],
  [
    "a member who may have been one before",
    { ...offered, wasOut: false },
    [opened, checked("in", 2)],
    { state: "opened", events: [] },
  ],
  [
    "who joined for the campaign before",
    { ...offered, hasJoinedBefore: true },
    [opened, joined],
    { state: "void", events: [] },
  ],
  [
    "an offer that nobody opened",
    offered,
    [{ kind: "expired", at: at(60) }, opened],
    { state: "lapsed", events: [], stays: ["over"] },
  ],
])("%s", (_name, task, facts, expected) => {
  expect(after(task, ...facts)).toMatchObject(expected);
});

const minute = fc.integer({ min: 0, max: 10 * DAY }).map(at);
const fact: fc.Arbitrary<TaskFact> = fc.oneof(
  minute.map((at) => ({ kind: "opened" as const, at })),
  fc.record({ kind: fc.constant("joined" as const), userId: fc.constantFrom("501", "501", "502"), at: minute }),
  minute.map((at) => ({ kind: "joined-otherwise" as const, at })),
  minute.map((at) => ({ kind: "left" as const, at })),
  minute.map((at) => ({ kind: "removed" as const, at })),
  fc.record({
    kind: fc.constant("checked" as const),
    membership: fc.constantFrom("in", "out", "banned", "unknown"),
    at: minute,
  }),
  minute.map((at) => ({ kind: "expired" as const, at })),
);
const task: fc.Arbitrary<Task> = fc.record({
  ...Object.fromEntries(Object.entries(offered).map(([name, value]) => [name, fc.constant(value)])),
  paidAt: fc.constantFrom("joined" as const, "kept" as const),
  holdDays: fc.constantFrom(0, 1, 7),
  wasOut: fc.boolean(),
}) as fc.Arbitrary<Task>;

test("in whatever order facts come, a task pays once at most, takes back once what it paid, and ends paid only if kept", () => {
  fc.assert(
    fc.property(task, fc.array(fact, { maxLength: 12 }), (task, facts) => {
      const { state, events } = after(task, ...facts);
      expect([[], ["task"], ["task", "task_reversed"]]).toContainEqual(events);
      if (events.length === 2) expect(state).toBe("left");
      if (state === "left") expect(events).not.toEqual(["task"]);
      if (state === "kept") expect(events).toEqual(["task"]);
      if (state !== "held" && state !== "kept" && state !== "left") expect(events).toEqual([]);
    }),
  );
});

test("a fact that comes again changes nothing", () => {
  fc.assert(
    fc.property(task, fc.array(fact, { maxLength: 8 }), fact, (task, facts, again) => {
      const once = after(task, ...facts, again);
      const twice = after(once.task, again);
      expect([twice.state, twice.events]).toEqual([once.state, []]);
    }),
  );
});

test("a lapsed task's join in time counts only while the budgets have room, and changes nothing else", () => {
  const lapsed: Task = { ...offered, state: "lapsed", hasBudget: false };
  const joined: TaskFact = { kind: "joined", userId: "501", at: at(30) };
  expect(judgeTask(lapsed, joined)).toEqual({ outcome: "stays", reason: "no-budget" });
  expect(judgeTask({ ...lapsed, hasBudget: true }, joined)).toMatchObject({ state: "held", event: "task" });
  // An opened task's place is held for it.
  expect(judgeTask({ ...lapsed, state: "opened" }, joined)).toMatchObject({ state: "held", event: "task" });
});
