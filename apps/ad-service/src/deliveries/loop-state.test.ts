import { expect, test } from "vitest";
import { type LoopState, loopStates, stateAfterClaim, stateAfterEmptyClaim } from "./loop-state.ts";

const table: [before: LoopState, claimed: number, isDueNow: boolean | undefined, after: LoopState][] = [
  ["node-full", 10, undefined, "node-full"],
  ["node-full", 3, undefined, "endpoint-full"],
  ["node-full", 0, true, "endpoint-full"],
  ["node-full", 0, false, "keeps-up"],
  ["endpoint-full", 10, undefined, "node-full"],
  ["endpoint-full", 3, undefined, "endpoint-full"],
  ["endpoint-full", 0, true, "endpoint-full"],
  ["endpoint-full", 0, false, "keeps-up"],
  ["keeps-up", 10, undefined, "node-full"],
  ["keeps-up", 3, undefined, "keeps-up"],
  ["keeps-up", 0, true, "endpoint-full"],
  ["keeps-up", 0, false, "keeps-up"],
];

test.each(table)("a loop that is %s and claims %i of 10 (more due: %s) is %s", (before, claimed, isDueNow, after) => {
  const state = stateAfterClaim(before, { claimed, limit: 10 });
  expect(isDueNow === undefined ? state : stateAfterEmptyClaim(state, { isDueNow })).toBe(after);
});

test("a node without a free slot claims no new event and wakes when one is free", () => {
  const state = stateAfterEmptyClaim(stateAfterClaim("keeps-up", { claimed: 0, limit: 0 }), { isDueNow: false });
  expect(loopStates[state]).toEqual({ claimsNewEvents: false, wakesOnFreedCapacity: true });
});
