import type { OwnTask } from "@intermission/ad-core/player-task-api";
import { expect, test } from "vitest";
import { describeTask } from "./describe-task.ts";

const task = (changes: Partial<OwnTask>): OwnTask => ({
  code: "7hKqM3xW9tRbZ2cN",
  state: "offered",
  kind: "join",
  title: "Secret Garden",
  expires_at: "2026-03-01T13:00:00.000Z",
  hold_days: 7,
  paid_at: "joined",
  payment: "none",
  ...changes,
});

test.each([
  ["an offer", {}, undefined, ["open"]],
  ["an offer that is paid later", { paid_at: "kept" }, "afterwards", ["open"]],
  ["an opened channel", { state: "opened" }, "toJoin", ["check", "open"]],
  ["an opened bot", { state: "opened", kind: "start" }, "toStart", ["check", "open"]],
  ["a member whose join is being confirmed", { state: "opened", is_confirming: true }, "confirming", []],
  ["a paid join", { state: "held", payment: "paid" }, "earned", []],
  ["a join that is paid later", { state: "held", paid_at: "kept" }, "waiting", []],
  ["a kept one", { state: "kept", payment: "paid" }, "kept", []],
  ["one that was left after it was paid", { state: "left", payment: "reversed" }, "reversed", []],
  ["one that was left before", { state: "left" }, "left", []],
  ["one that does not count", { state: "void" }, "void", []],
] satisfies [string, Partial<OwnTask>, string | undefined, string[]][])("%s", (_name, changes, line, actions) => {
  expect(describeTask(task(changes))).toMatchObject({ line, actions });
});

const states = Object.keys({
  offered: true,
  opened: true,
  held: true,
  kept: true,
  left: true,
  lapsed: true,
  void: true,
} satisfies Record<OwnTask["state"], true>) as OwnTask["state"][];

test("nothing but a payment is shown as earned", () => {
  for (const state of states)
    for (const payment of ["none", "reversed"] as const) {
      if (state !== "kept") expect(describeTask(task({ state, payment })).tone, state).not.toBe("good");
    }
});
