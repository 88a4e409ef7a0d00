import type { ProgressReport } from "@intermission/ad-core/player-api";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  acceptProgress,
  maxWaitMs,
  nextSequence,
  type Playback,
  type Progress,
  resumePositionMs,
  totalLength,
} from "./accept-progress.ts";

const start = new Date("2026-01-01T12:00:00Z");
const nothing: Progress = { covered: [], sequences: [], refusals: {} };
const tenSeconds: Playback = {
  progress: nothing,
  durationMs: 10_000,
  chargedAfterMs: null,
  openedAt: start,
  startedAt: start,
  closedAt: null,
  isClosedForGood: false,
  firstSequence: 0,
  clockMs: 0,
  creditedUntil: null,
};

const after = (ms: number) => new Date(start.getTime() + ms);

function playedRange(sequence: number, from_ms: number, to_ms: number, visible = true): ProgressReport {
  return { sequence, from_ms, to_ms, visible, muted: true };
}

/** One-second ranges, as an honest player reports them. */
function secondBySecond(fromMs: number, toMs: number, firstSequence = 0): ProgressReport[] {
  const count = Math.ceil((toMs - fromMs) / 1000);
  return Array.from({ length: count }, (_, index) => {
    const from = fromMs + index * 1000;
    return playedRange(firstSequence + index, from, Math.min(from + 1000, toMs));
  });
}

describe("an honest view", () => {
  test("that is played to its end is watched", () => {
    const accepted = acceptProgress(tenSeconds, secondBySecond(0, 10_000), after(10_000));
    expect(accepted).toMatchObject({ acceptedMs: 10_000, isWatched: true, refused: [], tooEarly: undefined });
    expect(accepted.progress).toEqual({ covered: [[0, 10_000]], sequences: [[0, 10]], refusals: {} });
  });

  test.each([
    { name: "all but the last second", toMs: 9_000, isWatched: true },
    { name: "a millisecond less than that", toMs: 8_999, isWatched: false },
    { name: "half of it", toMs: 5_000, isWatched: false },
  ])("$name: watched is $isWatched", ({ toMs, isWatched }) => {
    expect(acceptProgress(tenSeconds, secondBySecond(0, toMs), after(20_000)).isWatched).toBe(isWatched);
  });

  test.each([
    { missingMs: 3_000, isWatched: true },
    { missingMs: 3_001, isWatched: false },
  ])("100 s with a gap of $missingMs ms: watched is $isWatched", ({ missingMs, isWatched }) => {
    const long = { ...tenSeconds, durationMs: 100_000 };
    const reports = [
      ...secondBySecond(0, 50_000),
      ...secondBySecond(50_000 + missingMs, 80_000, 100),
      ...secondBySecond(80_000, 100_000, 200),
    ];
    expect(acceptProgress(long, reports, after(200_000)).isWatched).toBe(isWatched);
  });

  test("jumps of the media clock by 250 ms between reports lose no progress", () => {
    const reports = Array.from({ length: 8 }, (_, index) =>
      playedRange(index, index * 1250 + 200, index * 1250 + 1200),
    );
    const accepted = acceptProgress(tenSeconds, reports, after(10_000));
    expect(accepted).toMatchObject({ acceptedMs: 10_000, isWatched: true });
  });

  test("a report that comes slightly too early is not settled, and counts when it is sent again later", () => {
    const reports = secondBySecond(0, 3_000);
    const early = acceptProgress(tenSeconds, reports, after(1_200));
    expect(early).toMatchObject({ acceptedMs: 2_000, acknowledged: [0, 1] });
    expect(early.tooEarly).toEqual({ sequences: [2], retryAfterMs: 800 });
    const later = acceptProgress({ ...tenSeconds, progress: early.progress }, reports, after(2_000));
    expect(later).toMatchObject({ acceptedMs: 3_000, acknowledged: [0, 1, 2], tooEarly: undefined });
  });

  test.each([
    { toMs: 1700, isWatched: false },
    { toMs: 1800, isWatched: true },
  ])("$toMs ms of a two-second clip: watched is $isWatched", ({ toMs, isWatched }) => {
    const short = { ...tenSeconds, durationMs: 2000 };
    expect(acceptProgress(short, [playedRange(0, 0, toMs)], after(2000)).isWatched).toBe(isWatched);
  });

  test.each([
    { durationMs: 1000, afterMs: 999, isWatched: false },
    { durationMs: 1000, afterMs: 1000, isWatched: true },
    { durationMs: 2000, afterMs: 1799, isWatched: false },
    { durationMs: 2000, afterMs: 1800, isWatched: true },
    { durationMs: 10_000, afterMs: 8999, isWatched: false },
    { durationMs: 10_000, afterMs: 9000, isWatched: true },
    { durationMs: 100_000, afterMs: 96_999, isWatched: false },
    { durationMs: 100_000, afterMs: 97_000, isWatched: true },
  ])("a video of $durationMs ms is not watched too fast: after $afterMs ms, watched is $isWatched", (view) => {
    const { durationMs, afterMs, isWatched } = view;
    const accepted = acceptProgress({ ...tenSeconds, durationMs }, secondBySecond(0, durationMs), after(afterMs));
    expect(accepted.isWatched).toBe(isWatched);
    if (isWatched) return;
    expect(accepted.tooEarly?.retryAfterMs).toBeGreaterThanOrEqual(1);
    const later = acceptProgress({ ...tenSeconds, durationMs, ...accepted }, accepted.early, after(afterMs + 1));
    expect(later.isWatched).toBe(true);
  });

  test("a two-second clip at fourfold speed is not watched, despite the slack", () => {
    const short = { ...tenSeconds, durationMs: 2000 };
    expect(acceptProgress(short, secondBySecond(0, 2000), after(500)).isWatched).toBe(false);
  });
});

describe("reports that add nothing", () => {
  const refusals: { name: string; report: ProgressReport; reason: string; playback?: Partial<Playback> }[] = [
    { name: "a hidden range", report: playedRange(0, 0, 1000, false), reason: "hidden" },
    { name: "a range of more than 30 s", report: playedRange(0, 0, 30_001), reason: "too-long" },
    { name: "a range that runs backwards", report: playedRange(0, 2000, 1000), reason: "backwards" },
    { name: "an empty range", report: playedRange(0, 1000, 1000), reason: "backwards" },
    { name: "a range after the end", report: playedRange(0, 10_000, 11_000), reason: "beyond-the-end" },
    {
      name: "a range before the recorded start",
      report: playedRange(0, 0, 1000),
      reason: "not-started",
      playback: { startedAt: null },
    },
  ];
  test.each(refusals)("$name is refused, recorded and settled", ({ report, reason, playback }) => {
    const accepted = acceptProgress({ ...tenSeconds, ...playback }, [report], after(60_000));
    expect(accepted).toMatchObject({ acceptedMs: 0, acknowledged: [0], refused: [{ sequence: 0, reason }] });
    expect(accepted.progress).toEqual({ covered: [], sequences: [[0, 1]], refusals: { [reason]: 1 } });
  });

  test("a range beyond the end is clipped", () => {
    expect(acceptProgress(tenSeconds, [playedRange(0, 9_000, 12_000)], after(60_000)).acceptedMs).toBe(1_000);
  });

  test("seeking to the end covers only what was played", () => {
    const accepted = acceptProgress(tenSeconds, [playedRange(0, 0, 1000), playedRange(1, 9000, 10_000)], after(60_000));
    expect(accepted).toMatchObject({ acceptedMs: 2000, isWatched: false });
    expect(resumePositionMs(accepted.progress)).toBe(1000);
  });

  test("playing at fourfold speed earns no more than the clock allows, and the refusals are counted", () => {
    const reports = Array.from({ length: 3 }, (_, index) => playedRange(index, index * 4000, (index + 1) * 4000));
    const accepted = acceptProgress(tenSeconds, reports, after(3000));
    expect(accepted).toMatchObject({ acceptedMs: 4000, isWatched: false });
    expect(accepted.progress.refusals).toEqual({ "too-early": 2 });
  });

  test("the whole video claimed at once is not accepted", () => {
    const accepted = acceptProgress(tenSeconds, [playedRange(0, 0, 10_000)], after(0));
    expect(accepted).toMatchObject({ acceptedMs: 0, tooEarly: { sequences: [0], retryAfterMs: 9000 } });
  });

  test("a clock that steps back credits nothing", () => {
    const accepted = acceptProgress(tenSeconds, [playedRange(0, 0, 500)], after(-3_600_000));
    expect(accepted).toMatchObject({ acceptedMs: 0, acknowledged: [], tooEarly: { retryAfterMs: 10_000 } });
  });

  test("a sequence below the first of this opening, or one that was settled, is acknowledged and adds nothing", () => {
    const playback: Playback = {
      ...tenSeconds,
      firstSequence: 5,
      progress: {
        covered: [[0, 1000]],
        sequences: [
          [0, 1],
          [5, 6],
        ],
        refusals: {},
      },
    };
    const accepted = acceptProgress(playback, [playedRange(3, 1000, 2000), playedRange(5, 2000, 3000)], after(60_000));
    expect(accepted).toMatchObject({ acceptedMs: 1000, acknowledged: [3, 5] });
    expect(nextSequence(accepted.progress)).toBe(6);
  });
});

describe("properties", () => {
  const anyReport = fc.record({
    sequence: fc.nat({ max: 40 }),
    from_ms: fc.nat({ max: 12_000 }),
    to_ms: fc.nat({ max: 12_000 }),
    visible: fc.boolean(),
    muted: fc.boolean(),
  });
  const distinctReports = fc.uniqueArray(anyReport, { selector: ({ sequence }) => sequence, maxLength: 30 });

  test("given enough time, order, repeats and batches make no difference", () => {
    fc.assert(
      fc.property(distinctReports, fc.infiniteStream(fc.nat()), fc.nat({ max: 30 }), (reports, chances, cut) => {
        const now = after(60_000);
        const shuffled = [...reports, ...reports]
          .map((report) => ({ report, key: chances.next().value }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ report }) => report);
        const first = acceptProgress(tenSeconds, shuffled.slice(0, cut), now);
        const both = acceptProgress({ ...tenSeconds, progress: first.progress }, shuffled.slice(cut), now);
        expect(both.progress).toEqual(acceptProgress(tenSeconds, reports, now).progress);
      }),
    );
  });

  test("accepted progress never exceeds the clock, never shrinks, and stays in the video", () => {
    const calls = fc.array(
      fc.record({ reports: fc.array(anyReport, { maxLength: 10 }), atMs: fc.integer({ min: -5000, max: 20_000 }) }),
    );
    fc.assert(
      fc.property(calls, (steps) => {
        let progress = nothing;
        let before = 0;
        let latest = 0;
        for (const { reports, atMs } of steps) {
          const accepted = acceptProgress({ ...tenSeconds, progress }, reports, after(atMs));
          latest = Math.max(latest, atMs);
          expect(accepted.acceptedMs).toBeGreaterThanOrEqual(before);
          expect(accepted.acceptedMs).toBeLessThanOrEqual(Math.min(10_000, Math.max(0, latest + 1000)));
          progress = accepted.progress;
          before = accepted.acceptedMs;
        }
      }),
    );
  });

  test("each report is acknowledged or too early", () => {
    fc.assert(
      fc.property(distinctReports, fc.nat({ max: 15_000 }), (reports, atMs) => {
        const accepted = acceptProgress(tenSeconds, reports, after(atMs));
        const answered = [...accepted.acknowledged, ...(accepted.tooEarly?.sequences ?? [])].toSorted((a, b) => a - b);
        expect(answered).toEqual(reports.map(({ sequence }) => sequence).toSorted((a, b) => a - b));
      }),
    );
  });

  test("a forger's numbers and ranges take bounded space", () => {
    let progress = nothing;
    for (let call = 0; call < 20; call++) {
      const reports = Array.from({ length: 300 }, (_, index) => {
        const number = call * 300 + index;
        return playedRange(number * 7, (number * 997) % 10_000, ((number * 997) % 10_000) + 1);
      });
      progress = acceptProgress({ ...tenSeconds, progress }, reports, after(60_000)).progress;
    }
    expect(progress.sequences.length).toBeLessThanOrEqual(256);
    expect(progress.covered.length).toBeLessThanOrEqual(40);
  });
});

describe("a view's opening, start and close", () => {
  const wholeAt = (atMs: number, playback: Partial<Playback> = {}) =>
    acceptProgress({ ...tenSeconds, ...playback }, secondBySecond(0, 10_000), after(atMs));

  test.each([0, 4000, 11_000])(
    "one call of everything is judged by the time since the opening: start at %i ms",
    (ms) => {
      const startedAt = after(ms);
      expect(wholeAt(11_000, { startedAt })).toMatchObject({ isWatched: true, refused: [], tooEarly: undefined });
      expect(wholeAt(8999, { startedAt })).toMatchObject({ isWatched: false, tooEarly: { retryAfterMs: 1 } });
    },
  );

  test("an opening in the future, by another server's clock, is not later than the start", () => {
    const playback = { openedAt: after(60_000) };
    expect(wholeAt(9000, playback).isWatched).toBe(true);
    expect(wholeAt(8999, playback).isWatched).toBe(false);
  });

  test("time that counted for another view, or before the latest opening, does not count again", () => {
    const playback = { creditedUntil: after(5000), startedAt: after(11_000) };
    expect(wholeAt(13_999, playback).isWatched).toBe(false);
    expect(wholeAt(14_000, playback)).toMatchObject({ isWatched: true, clockMs: 9000, creditedUntil: after(14_000) });
  });

  test("after a closing tap, ranges that may still fit are too early; those that never can are refused", () => {
    const closed = { closedAt: after(3000), isClosedForGood: true };
    const first = wholeAt(3000, closed);
    expect(first.acceptedMs).toBe(4000);
    expect(first.tooEarly).toEqual({ sequences: [4], retryAfterMs: 1000 });
    expect(first.refused.map(({ sequence, reason }) => `${sequence} ${reason}`)).toEqual(
      [5, 6, 7, 8, 9].map((sequence) => `${sequence} after-close`),
    );
    const retried = acceptProgress({ ...tenSeconds, ...closed, ...first }, first.early, after(4000));
    expect(retried).toMatchObject({ acceptedMs: 5000, tooEarly: undefined, acknowledged: [4] });
  });

  const some = fc.record({
    durationMs: fc.integer({ min: 1000, max: 60_000 }),
    closedMs: fc.nat(70_000),
    lateMs: fc.nat(100_000),
  });

  /** Where the second ends in which 97 % are covered, or all but the last second: less real time never suffices. */
  function neededMsOf(durationMs: number): number {
    const allButTheLastMs = durationMs - Math.min(1000, durationMs / 10);
    const ends = secondBySecond(0, durationMs).map(({ to_ms: to }) => to);
    const sufficient = ends.find((to) => to >= Math.min(durationMs * 0.97, allButTheLastMs)) ?? durationMs;
    return Math.min(sufficient, Math.max(1000, allButTheLastMs));
  }

  test("whenever its reports arrive, a view is complete only if the time to its close, and the wait, suffice", () => {
    fc.assert(
      fc.property(some, ({ durationMs, closedMs, lateMs }) => {
        const playback = { ...tenSeconds, durationMs, closedAt: after(closedMs) };
        const reports = secondBySecond(0, durationMs);
        const { isWatched } = acceptProgress(playback, reports, after(closedMs + lateMs));
        expect(isWatched).toBe(closedMs + Math.min(lateMs, maxWaitMs(durationMs)) >= neededMsOf(durationMs));
      }),
      // 57 of 58 s are 97 % of them, and less than all but the last second.
      { examples: [[{ durationMs: 58_001, closedMs: 56_000, lateMs: 1000 }]] },
    );
  });

  test("a player is invited to send again only what a later call accepts", () => {
    const close = fc.record({ closedMs: fc.nat(12_000), lateMs: fc.nat(5000), isClosedForGood: fc.boolean() });
    fc.assert(
      fc.property(close, fc.nat(12), ({ closedMs, lateMs, isClosedForGood }, cut) => {
        const reports = secondBySecond(0, 10_000).toSpliced(cut, 1);
        let playback: Playback = { ...tenSeconds, closedAt: after(closedMs), isClosedForGood: true };
        if (!isClosedForGood) playback = { ...playback, closedAt: null };
        const first = acceptProgress(playback, reports, after(closedMs + lateMs));
        if (!first.tooEarly) return;
        const again = after(closedMs + lateMs + first.earlyMs);
        expect(acceptProgress({ ...playback, ...first }, first.early, again)).toMatchObject({
          acknowledged: first.tooEarly.sequences,
          refused: [],
          tooEarly: undefined,
        });
      }),
    );
  });

  const wholeSeconds = (playedMs: number) => secondBySecond(0, Math.floor(playedMs / 1000) * 1000);

  test("an honest viewer's calls count in whatever order and however late they arrive, and nobody gains time", () => {
    const call = fc.record({ sentAfterMs: fc.nat(14_000), delayMs: fc.nat(40_000), isTwice: fc.boolean() });
    const honest = fc.record({
      offerMs: fc.nat(20_000),
      stallMs: fc.nat(5000),
      stallAtMs: fc.nat(10_000),
      calls: fc.array(call, { maxLength: 8 }),
      lastDelayMs: fc.nat(40_000),
    });
    fc.assert(
      fc.property(honest, ({ offerMs, stallMs, stallAtMs, calls, lastDelayMs }) => {
        const playedAfter = (ms: number) => Math.min(10_000, ms < stallAtMs ? ms : Math.max(stallAtMs, ms - stallMs));
        const sent = [...calls, { sentAfterMs: 10_000 + stallMs, delayMs: lastDelayMs, isTwice: true }];
        const arrivals = sent
          .flatMap(({ sentAfterMs, delayMs, isTwice }) => {
            const arrival = { playedMs: playedAfter(sentAfterMs), atMs: offerMs + sentAfterMs + delayMs };
            return isTwice ? [arrival, { ...arrival, atMs: arrival.atMs + 500 }] : [arrival];
          })
          .toSorted((a, b) => a.atMs - b.atMs);
        let playback: Playback = { ...tenSeconds, startedAt: null };
        for (const { playedMs, atMs } of arrivals) {
          playback = { ...playback, startedAt: playback.startedAt ?? after(atMs) };
          // A report never changes: of the second that is being played there is none yet.
          const accepted = acceptProgress(playback, wholeSeconds(playedMs), after(atMs));
          expect(accepted).toMatchObject({ refused: [], tooEarly: undefined });
          expect(accepted.clockMs).toBeLessThanOrEqual(atMs);
          playback = { ...playback, ...accepted };
        }
        expect(totalLength(playback.progress.covered)).toBe(10_000);
      }),
    );
  });
});
