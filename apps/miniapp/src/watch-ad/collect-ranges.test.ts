import type { ProgressReport } from "@intermission/ad-core/player-api";
import { reportDueMs } from "@intermission/ad-core/report-steps";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Collecting, collectRanges, type PlayerEvent, type PlayerMoment } from "./collect-ranges.ts";

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

function reportsOf(events: PlayerEvent[], { durationMs = 30_000, nextSequence = 0 } = {}): ProgressReport[] {
  let collecting: Collecting = { durationMs, nextSequence, open: null };
  return events.flatMap((event) => {
    const step = collectRanges(collecting, event);
    collecting = step.collecting;
    return step.reports;
  });
}

const spans = (reports: ProgressReport[]) => reports.map(({ from_ms, to_ms }) => [from_ms, to_ms]);

/** A tick every quarter of a second, sometimes slightly late, and the stop at the end. */
function playback(durationMs: number, fromMs = 0): PlayerEvent[] {
  const ticks = Math.floor((durationMs - fromMs) / 257);
  return [...Array.from({ length: ticks + 1 }, (_, tick) => moved(fromMs + tick * 257.3)), stopped(durationMs)];
}

describe("when a report is due", () => {
  const dueIn = (durationMs: number): number[] => {
    const due = [reportDueMs(0, durationMs)];
    for (let next = due[0] ?? 0; next < durationMs; next = due.at(-1) ?? 0) due.push(reportDueMs(next, durationMs));
    return due.filter((position) => position < durationMs).map(Math.round);
  };

  test.each([
    { durationMs: 1000, due: [] },
    { durationMs: 2000, due: [1000] },
    { durationMs: 10_000, due: [2500, 5000, 7500] },
    { durationMs: 20_000, due: [5000, 10_000, 15_000] },
    { durationMs: 30_000, due: [3750, 7500, 11_250, 15_000, 18_750, 22_500, 26_250] },
    { durationMs: 60_000, due: Array.from({ length: 11 }, (_, index) => 5000 * (index + 1)) },
  ])("a video of $durationMs ms is reported at its quartiles and at least every 5 s", ({ durationMs, due }) => {
    expect(dueIn(durationMs)).toEqual(due);
  });

  test("from any position the next report is due later than now, within 5 s, and not after the next quartile", () => {
    const position = fc.record({
      durationMs: fc.integer({ min: 1000, max: 180_000 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(position, ({ durationMs, share }) => {
        const fromMs = durationMs * share;
        const dueMs = reportDueMs(fromMs, durationMs);
        expect(dueMs).toBeGreaterThan(fromMs - 1e-6);
        expect(dueMs - fromMs).toBeLessThanOrEqual(5000 + 1e-6);
        if (durationMs < 4000) return;
        const quartiles = [0.25, 0.5, 0.75].map((quarter) => durationMs * quarter);
        expect(quartiles.filter((quartile) => quartile > fromMs + 1e-6 && quartile < dueMs - 1e-6)).toEqual([]);
      }),
    );
  });
});

describe("an uninterrupted playback", () => {
  test("is reported in ranges without gaps up to its end", () => {
    const ticks = [0, 260, 2510, 3760.4, 4000, 7490, 7502.6, 8000];
    const reports = reportsOf([...ticks.map((position) => moved(position)), stopped(8300)]);
    expect(spans(reports)).toEqual([
      [0, 3760],
      [3760, 7503],
      [7503, 8300],
    ]);
    expect(reports.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
  });

  test("of 30 s takes eight reports, of 2 s two", () => {
    expect(reportsOf(playback(30_000), { durationMs: 30_000 })).toHaveLength(8);
    expect(reportsOf(playback(2000), { durationMs: 2000 })).toHaveLength(2);
  });

  test("of a resumed session starts with the sequence number that the service returned", () => {
    expect(reportsOf([moved(5000), stopped(5600)], { nextSequence: 17 })).toEqual([
      { sequence: 17, from_ms: 5000, to_ms: 5600, visible: true, muted: true, events: ["pause"] },
    ]);
  });

  test("says once each what the viewer did: muted, unmuted, paused, resumed", () => {
    const loud = { isMuted: false };
    const all = [moved(0), moved(500, loud), moved(900, loud), moved(1000), stopped(1500), moved(1500), moved(4000)];
    expect(reportsOf(all).map(({ to_ms, events }) => [to_ms, events])).toEqual([
      [500, ["unmute"]],
      [1000, ["mute"]],
      [1500, ["pause"]],
      [4000, ["resume"]],
    ]);
  });

  test("reported late, after a delayed timer, is split into ranges that the service accepts, and nothing is lost", () => {
    expect(spans(reportsOf([moved(0), moved(25_000)]))).toEqual([
      [0, 10_000],
      [10_000, 20_000],
      [20_000, 25_000],
    ]);
  });
});

describe("positions that were not played are not reported", () => {
  test("a jump ahead ends the range at the position before it", () => {
    expect(spans(reportsOf([moved(0), moved(400), jumped, moved(9000), stopped(9300)]))).toEqual([
      [0, 400],
      [9000, 9300],
    ]);
  });

  test("a position that goes back without a jump event counts as a jump", () => {
    expect(spans(reportsOf([moved(2000), moved(2500), moved(1000), stopped(1400)]))).toEqual([
      [2000, 2500],
      [1000, 1400],
    ]);
  });

  test.each([
    { name: "a stop", events: [stopped(1000), stopped(1000)] },
    { name: "a jump", events: [jumped] },
    { name: "a start that never moved", events: [moved(0), stopped(0), jumped] },
  ])("$name without playback reports nothing", ({ events }) => {
    expect(reportsOf(events)).toEqual([]);
  });

  test("a pause is not part of any range", () => {
    expect(spans(reportsOf([moved(0), stopped(700), moved(700), stopped(1500)]))).toEqual([
      [0, 700],
      [700, 1500],
    ]);
  });
});

describe("visibility, sound and frames", () => {
  test("unmuting starts a new range", () => {
    const reports = reportsOf([moved(0), moved(600, { isMuted: false }), stopped(900)]);
    expect(reports.map(({ muted }) => muted)).toEqual([true, false]);
    expect(spans(reports)).toEqual([
      [0, 600],
      [600, 900],
    ]);
  });

  test("a volume change without muting does not end a range", () => {
    expect(spans(reportsOf([moved(0), moved(300), moved(310), stopped(900)]))).toEqual([[0, 900]]);
  });

  test("a range that started hidden is reported as hidden and ends where the page becomes visible", () => {
    const reports = reportsOf([moved(0, { isVisible: false }), moved(500), stopped(900)]);
    expect(reports.map(({ visible }) => visible)).toEqual([false, true]);
  });

  const framesOf = (reports: ProgressReport[]) => reports.map(({ rendered_frames: frames }) => frames);

  test("each rendered frame is in one report: those before playback in the first, those of a pause in the next", () => {
    const reports = reportsOf([
      moved(0, { renderedFrames: 4 }),
      { type: "stopped", moment: at(1000, { renderedFrames: 30 }) },
      moved(1000, { renderedFrames: 33 }),
      moved(4000, { renderedFrames: 90 }),
    ]);
    expect(framesOf(reports)).toEqual([30, 60]);
  });

  test("a still shows its only frame before playback: the first report has it", () => {
    const reports = reportsOf([
      moved(0, { renderedFrames: 1 }),
      moved(4000, { renderedFrames: 1 }),
      moved(8000, { renderedFrames: 1 }),
    ]);
    expect(framesOf(reports)).toEqual([1, 0]);
  });

  test("after the media is loaded again, its frames are counted anew", () => {
    const reports = reportsOf([
      moved(0, { renderedFrames: 10 }),
      moved(4000, { renderedFrames: 40 }),
      jumped,
      moved(4000, { renderedFrames: 2 }),
      moved(8000, { renderedFrames: 5 }),
    ]);
    expect(framesOf(reports)).toEqual([40, 5]);
  });

  test("a range that is split has frames in each part if it has any; a browser that counts none reports none", () => {
    const split = reportsOf([moved(0, { renderedFrames: 0 }), moved(25_000, { renderedFrames: 2 })]);
    expect(framesOf(split)).toEqual([1, 1, 1]);
    expect(reportsOf([moved(0), moved(4000)])[0]).not.toHaveProperty("rendered_frames");
  });
});
