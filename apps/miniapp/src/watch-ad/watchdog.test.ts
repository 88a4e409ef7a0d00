import { expect, test } from "vitest";
import { startWatching, type Verdict, watch } from "./watchdog.ts";

/** The verdicts other than "fine", with the second in which they came. */
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

test("playback that goes on, however slowly, is left alone", () => {
  expect(verdicts((second) => second * 100, 60)).toEqual([]);
});

test("after 8 s without progress the video is loaded again, once; after 20 s it is given up", () => {
  expect(verdicts(() => 0, 20)).toEqual([
    [8, "reload"],
    [20, "give-up"],
  ]);
});

test("going back, as a reload does, is no progress", () => {
  expect(verdicts((second) => (second < 8 ? 5000 : 0), 20)).toEqual([
    [8, "reload"],
    [20, "give-up"],
  ]);
});

test("after progress the whole patience begins anew", () => {
  expect(verdicts((second) => (second < 10 ? 0 : 1000), 18)).toEqual([
    [8, "reload"],
    [18, "reload"],
  ]);
});
