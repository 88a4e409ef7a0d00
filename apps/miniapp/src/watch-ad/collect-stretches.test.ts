import type { ProgressReport } from "@intermission/ad-core/player-api";
import { describe, expect, test } from "vitest";
import { type Collecting, collectStretches, type PlayerEvent, type PlayerMoment } from "./collect-stretches.ts";

const at = (positionMs: number, moment: Partial<PlayerMoment> = {}): PlayerMoment => ({
  positionMs,
  isVisible: true,
  isMuted: true,
  ...moment,
});
const moved = (positionMs: number, moment?: Partial<PlayerMoment>): PlayerEvent => ({
  type: "moved",
  moment: at(positionMs, moment),
});
const stopped = (positionMs: number): PlayerEvent => ({ type: "stopped", moment: at(positionMs) });
const jumped: PlayerEvent = { type: "jumped" };

function reportsOf(events: PlayerEvent[], nextSequence = 0): ProgressReport[] {
  let collecting: Collecting = { nextSequence, running: null };
  return events.flatMap((event) => {
    const step = collectStretches(collecting, event);
    collecting = step.collecting;
    return step.reports;
  });
}

const spans = (reports: ProgressReport[]) => reports.map(({ from_ms, to_ms }) => [from_ms, to_ms]);

describe("an even playback", () => {
  test("is told in stretches of about a second that leave no hole up to its end", () => {
    const ticks = [0, 260, 510, 760, 1010.4, 1270, 1500, 1760, 2020.6];
    const reports = reportsOf([...ticks.map((position) => moved(position)), stopped(2300)]);
    expect(spans(reports)).toEqual([
      [0, 1010],
      [1010, 2021],
      [2021, 2300],
    ]);
    expect(reports.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
  });

  test("of a session that goes on begins with the number the service asked for", () => {
    expect(reportsOf([moved(5000), stopped(5600)], 17)).toEqual([
      { sequence: 17, from_ms: 5000, to_ms: 5600, visible: true, muted: true },
    ]);
  });

  test("told late, after a starved timer, comes in pieces that the service accepts, and none is lost", () => {
    expect(spans(reportsOf([moved(0), moved(25_000)]))).toEqual([
      [0, 10_000],
      [10_000, 20_000],
      [20_000, 25_000],
    ]);
  });
});

describe("what was not played is not told", () => {
  test("a jump ahead ends the stretch where it stood", () => {
    expect(spans(reportsOf([moved(0), moved(400), jumped, moved(9000), stopped(9300)]))).toEqual([
      [0, 400],
      [9000, 9300],
    ]);
  });

  test("a position that goes back without a word is a jump too", () => {
    expect(spans(reportsOf([moved(2000), moved(2500), moved(1000), stopped(1400)]))).toEqual([
      [2000, 2500],
      [1000, 1400],
    ]);
  });

  test.each([
    { name: "a stop", events: [stopped(1000), stopped(1000)] },
    { name: "a jump", events: [jumped] },
    { name: "a start that never moved", events: [moved(0), stopped(0), jumped] },
  ])("$name without playback says nothing", ({ events }) => {
    expect(reportsOf(events)).toEqual([]);
  });

  test("a pause belongs to no stretch", () => {
    expect(spans(reportsOf([moved(0), stopped(700), moved(700), stopped(1500)]))).toEqual([
      [0, 700],
      [700, 1500],
    ]);
  });
});

describe("how it was seen and heard", () => {
  test("sound that is turned on begins a stretch of its own", () => {
    const unmuted: PlayerEvent = { type: "changed", moment: at(600, { isMuted: false }) };
    const reports = reportsOf([moved(0), unmuted, stopped(900)]);
    expect(reports.map(({ muted }) => muted)).toEqual([true, false]);
    expect(spans(reports)).toEqual([
      [0, 600],
      [600, 900],
    ]);
  });

  test("a stretch that began out of sight is told as hidden", () => {
    expect(reportsOf([moved(0, { isVisible: false }), stopped(500)])).toMatchObject([{ visible: false }]);
  });

  test("frames are those of the stretch; a count that began anew is left out", () => {
    const [first, second] = reportsOf([
      moved(0, { renderedFrames: 10 }),
      moved(1000, { renderedFrames: 40 }),
      moved(2000, { renderedFrames: 5 }),
    ]);
    expect(first?.rendered_frames).toBe(30);
    expect(second).not.toHaveProperty("rendered_frames");
  });
});
