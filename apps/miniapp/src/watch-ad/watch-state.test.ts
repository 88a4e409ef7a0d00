import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Hold,
  initialState,
  isOver,
  type Motion,
  playbackOf,
  type Stage,
  shouldPlay,
  transition,
  type WatchEvent,
  type WatchState,
} from "./watch-state.ts";

const state = (stage: Stage, motion: Motion, ...holds: Hold[]): WatchState => ({
  stage,
  motion,
  holds: new Set(holds),
});

const waiting = state("playing", "waiting");
const running = state("playing", "running");
const inDialog = state("playing", "waiting", "dialog");
const reading = state("playing", "waiting", "about");
const confirming = state("confirming", "ended");
const watched = state("watched", "ended");

/** Every transition that changes the state. */
const rows: [from: WatchState, event: WatchEvent, to: WatchState][] = [
  [initialState, "play", waiting],
  [initialState, "away", state("offer", "idle", "away")],
  [state("offer", "idle", "away"), "play", waiting],
  [initialState, "limited", state("limited", "idle")],
  [initialState, "superseded", state("superseded", "idle")],
  [initialState, "over", state("over", "idle")],

  [waiting, "running", running],
  [waiting, "rejected", state("playing", "blocked")],
  [waiting, "stalled", state("playing", "stalled")],
  [waiting, "ended", confirming],
  [running, "stopped", state("playing", "blocked")],
  [running, "rejected", state("playing", "blocked")],
  [running, "reloading", waiting],
  [running, "stalled", state("playing", "stalled")],
  [running, "ended", confirming],
  [state("playing", "blocked"), "play", waiting],
  [state("playing", "blocked"), "running", running],
  [state("playing", "stalled"), "play", waiting],

  [running, "pause", state("playing", "waiting", "paused")],
  [running, "away", state("playing", "waiting", "away")],
  [running, "ask-to-close", inDialog],
  [state("playing", "waiting", "paused"), "play", waiting],
  [state("playing", "waiting", "paused"), "away", state("playing", "waiting", "paused", "away")],
  [state("playing", "waiting", "paused", "away"), "here", state("playing", "waiting", "paused")],
  [state("playing", "waiting", "paused", "away"), "play", waiting],
  [state("playing", "waiting", "away"), "here", waiting],
  [state("playing", "blocked", "away"), "here", waiting],
  [running, "about", reading],
  [reading, "about-closed", waiting],
  [reading, "ask-to-close", waiting],
  [reading, "play", waiting],
  [reading, "away", state("playing", "waiting", "about", "away")],
  [state("playing", "waiting", "about", "away"), "here", reading],
  [state("playing", "waiting", "paused", "about"), "about-closed", state("playing", "waiting", "paused")],
  [state("confirming", "ended", "about"), "confirmed", state("watched", "ended", "about")],
  [reading, "broken", state("broken", "waiting")],
  [initialState, "about", state("offer", "idle", "about")],
  [state("offer", "idle", "about"), "ask-to-close", initialState],
  [watched, "about", state("watched", "ended", "about")],
  [state("watched", "ended", "about"), "about-closed", watched],
  [inDialog, "stay", waiting],
  [inDialog, "ask-to-close", waiting],
  [inDialog, "away", state("playing", "waiting", "dialog", "away")],
  [inDialog, "leave", state("left", "waiting")],
  [inDialog, "ended", confirming],

  [running, "confirmed", state("watched", "waiting")],
  [inDialog, "confirmed", state("watched", "waiting")],
  [running, "broken", state("broken", "waiting")],
  [confirming, "confirmed", watched],
  [confirming, "incomplete", state("incomplete", "ended")],
  [confirming, "broken", state("broken", "ended")],
  [confirming, "close", state("closed", "ended")],
  [confirming, "ask-to-close", state("closed", "ended")],
  [watched, "close", state("closed", "ended")],
  [watched, "ask-to-close", state("closed", "ended")],
];

describe("each transition", () => {
  test.each(rows.map(([from, event, to]) => ({ from, event, to, name: describeState(from) })))(
    "$name: $event",
    ({ from, event, to }) => {
      expect(transition(from, event)).toEqual(to);
    },
  );
});

describe("an event that does not apply leaves the state unchanged", () => {
  test.each<[WatchState, WatchEvent]>([
    [initialState, "pause"],
    [initialState, "ask-to-close"],
    [initialState, "close"],
    [initialState, "running"],
    [initialState, "ended"],
    [initialState, "confirmed"],
    [running, "running"],
    [running, "close"],
    [running, "leave"],
    [running, "incomplete"],
    [waiting, "stopped"],
    [state("playing", "waiting", "paused"), "running"],
    [state("playing", "waiting", "paused"), "stalled"],
    [state("playing", "waiting", "away"), "rejected"],
    [confirming, "pause"],
    [watched, "play"],
    [watched, "broken"],
    [watched, "ended"],
    [watched, "incomplete"],
    [watched, "stay"],
    [running, "about-closed"],
    [inDialog, "about"],
  ])("%o: %s", (from, event) => {
    expect(transition(from, event)).toBe(from);
  });
});

test.each<[WatchState, isMoving: boolean, string]>([
  [initialState, true, "idle"],
  [waiting, true, "buffering"],
  [running, true, "playing"],
  [running, false, "buffering"],
  [state("playing", "blocked"), true, "blocked"],
  [state("playing", "blocked", "away"), true, "held"],
  [state("playing", "stalled", "away"), true, "stalled"],
  [inDialog, true, "held"],
  [watched, false, "ended"],
])("%o is shown, moving: %s, as %s", (from, isMoving, shown) => {
  expect(playbackOf(from, isMoving)).toBe(shown);
});

const allEvents: WatchEvent[] = [
  "play",
  "pause",
  "ask-to-close",
  "stay",
  "leave",
  "close",
  "here",
  "away",
  "about",
  "about-closed",
  "running",
  "stopped",
  "rejected",
  "reloading",
  "stalled",
  "ended",
  "confirmed",
  "incomplete",
  "broken",
  "limited",
  "superseded",
  "over",
];
const anyEvents = fc.array(fc.constantFrom(...allEvents), { maxLength: 40 });

/** Checks a rule for each step of arbitrary sequences of events. */
function always(rule: (before: WatchState, event: WatchEvent, after: WatchState, past: WatchEvent[]) => void): void {
  fc.assert(
    fc.property(anyEvents, (events) => {
      let before = initialState;
      events.forEach((event, index) => {
        const after = transition(before, event);
        rule(before, event, after, events.slice(0, index + 1));
        before = after;
      });
    }),
    { numRuns: 2000 },
  );
}

describe("in any sequence of events", () => {
  test("the video never plays before a tap, while it is held, or after the ad is over", () => {
    always((_, __, after, past) => {
      if (!shouldPlay(after)) return;
      expect(past).toContain("play");
      expect(after.holds.size).toBe(0);
      expect(isOver(after)).toBe(false);
    });
  });

  test("time is counted only while the video should play", () => {
    always((_, __, after) => {
      if (after.motion === "running") expect(shouldPlay(after)).toBe(true);
    });
  });

  test("only the service's confirmation leads to the end card, and only the user gives up the reward", () => {
    always((before, event, after) => {
      if (before.stage === after.stage) return;
      if (after.stage === "watched") expect(event).toBe("confirmed");
      if (after.stage === "left") expect(event).toBe("leave");
      if (after.stage === "closed") expect(["close", "ask-to-close"]).toContain(event);
    });
  });

  test("a viewer who watched the ad cannot lose it any more", () => {
    always((before, _, after) => {
      if (before.stage === "watched")
        expect(["watched", "closed", "limited", "superseded", "over"]).toContain(after.stage);
    });
  });

  test("the question is asked only during playback, and a tap on play always answers a pause", () => {
    always((_, event, after) => {
      if (after.holds.has("dialog")) expect(after.stage).toBe("playing");
      if (event === "play" && !isOver(after) && after.stage !== "watched")
        expect(after.holds.has("paused")).toBe(false);
    });
  });

  test("an ad that is over stays as it is", () => {
    always((before, _, after) => {
      if (isOver(before)) expect(after).toBe(before);
    });
  });
});

function describeState({ stage, motion, holds }: WatchState): string {
  return [stage, motion, ...holds].join(" ");
}
