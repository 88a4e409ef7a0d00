import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { milestonesBetween, type Reached } from "./accept-progress.ts";

const at = (acceptedMs: number, isComplete = false): Reached => ({ isStarted: true, acceptedMs, isComplete });
const nowhere: Reached = { isStarted: false, acceptedMs: 0, isComplete: false };

describe("the milestones of a ten-second view", () => {
  test.each<[name: string, before: Reached, after: Reached, milestones: string[]]>([
    ["the start", nowhere, at(0), ["start"]],
    ["a millisecond before a quarter: none", at(0), at(2499), []],
    ["a quarter", at(2499), at(2500), ["first-quartile"]],
    ["from a quarter to three quarters in one step", at(2500), at(7500), ["midpoint", "third-quartile"]],
    ["all but the last second completes it", at(7500), at(9000, true), ["complete"]],
    ["the heartbeat after the end: none", at(9000, true), at(9000, true), []],
  ])("%s", (_name, before, after, milestones) => {
    expect(milestonesBetween(before, after, 10_000)).toEqual(milestones);
  });

  test("come once each and in order, however the progress is split", () => {
    const steps = fc.array(fc.nat(10_000), { maxLength: 30 }).map((all) => all.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(steps, (positions) => {
        const states = [nowhere, ...positions.map((position) => at(position)), at(10_000, true)];
        const all = states
          .slice(1)
          .flatMap((after, index) => milestonesBetween(states[index] ?? nowhere, after, 10_000));
        expect(all).toEqual(["start", "first-quartile", "midpoint", "third-quartile", "complete"]);
      }),
    );
  });
});
