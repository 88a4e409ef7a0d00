import { expect, test } from "vitest";
import { startWatching, type Verdict, watch } from "./watchdog.ts";

/** The verdicts other than "fine", with their second. */
function verdicts(positionAt: (second: number) => number, seconds: number): [number, Verdict][] {
  let watching = startWatching(positionAt(0), 0);
  const told: [number, Verdict][] = [];
  for (let second = 1; second <= seconds; second++) {
    const step = watch(watching, positionAt(second), second * 1000);
    watching = step.watching;
    if (step.verdict !== "fine") told.push([second, step.verdict]);
  }
  return told;
}

test("playback that progresses, however slowly, is not interrupted", () => {
  expect(verdicts((second) => second * 100, 60)).toEqual([]);
});

test("after 8 s without progress the video is reloaded once; after 20 s the watchdog gives up", () => {
  expect(verdicts(() => 0, 20)).toEqual([
    [8, "reload"],
    [20, "give-up"],
  ]);
});

test("a position that goes back, as in a reload, is not progress", () => {
  expect(verdicts((second) => (second < 8 ? 5000 : 0), 20)).toEqual([
    [8, "reload"],
    [20, "give-up"],
  ]);
});

test("progress restarts both timeouts", () => {
  expect(verdicts((second) => (second < 10 ? 0 : 1000), 18)).toEqual([
    [8, "reload"],
    [18, "reload"],
  ]);
});
