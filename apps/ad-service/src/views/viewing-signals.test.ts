import type { ProgressReport } from "@intermission/ad-core/player-api";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gatherSignals, noSignals, suspicionsOf, type ViewingSignals } from "./viewing-signals.ts";

const start = Date.parse("2026-01-01T12:00:00Z");

/** A player's ranges are a frame or two longer than a second. */
function playedRange(second: number, changes: Partial<ProgressReport> = {}): ProgressReport {
  const [from_ms, to_ms] = [second * 1017, (second + 1) * 1017];
  return { sequence: second, from_ms, to_ms, visible: true, muted: true, rendered_frames: 25, ...changes };
}

/** One call for each second, as a player sends them; `atMs` is when each call arrives. */
function watch(reports: readonly ProgressReport[], atMs = (index: number) => (index + 1) * 1017): ViewingSignals {
  return reports.reduce((signals, report, index) => {
    const claimedMs = Math.max(...reports.slice(0, index + 1).map(({ to_ms }) => to_ms));
    return gatherSignals(signals, { settled: [report], claimedMs }, new Date(start + atMs(index)));
  }, noSignals);
}

const thirtySeconds = (changes: (second: number) => Partial<ProgressReport> = () => ({})) =>
  Array.from({ length: 30 }, (_, second) => playedRange(second, changes(second)));

describe("the suspicions of a view", () => {
  test.each<{ name: string; signals: ViewingSignals; suspicions: string[] }>([
    { name: "none for a view that was played", signals: watch(thirtySeconds()), suspicions: [] },
    {
      name: "none if the browser does not count frames",
      signals: watch(thirtySeconds(() => ({ rendered_frames: undefined }))),
      suspicions: [],
    },
    {
      name: "progress without a frame",
      signals: watch(thirtySeconds(() => ({ rendered_frames: 0 }))),
      suspicions: ["no-frames"],
    },
    {
      name: "none for two seconds without a frame in the middle",
      signals: watch(thirtySeconds((second) => ({ rendered_frames: second === 9 || second === 10 ? 0 : 25 }))),
      suspicions: [],
    },
    {
      name: "a thousand frames in a second",
      signals: watch(thirtySeconds(() => ({ rendered_frames: 1000 }))),
      suspicions: ["too-many-frames"],
    },
    {
      name: "most of it played in the background",
      signals: watch(thirtySeconds((second) => ({ visible: second > 20 }))),
      suspicions: ["mostly-hidden"],
    },
    {
      name: "progress at ten times real time",
      signals: watch(thirtySeconds(), (index) => (index + 1) * 100),
      suspicions: ["faster-than-time"],
    },
    {
      name: "positions that no media clock reports",
      signals: watch(thirtySeconds((second) => ({ from_ms: second * 1000, to_ms: (second + 1) * 1000 }))),
      suspicions: ["too-even"],
    },
  ])("$name", ({ signals, suspicions }) => {
    expect(suspicionsOf(signals)).toEqual(suspicions);
  });

  test("a start that arrives 20 s late and a minute without a network do not count as faster than time", () => {
    // What the network held back arrives in one call.
    const first = { settled: thirtySeconds().slice(0, 20), claimedMs: 20 * 1017 };
    const late = thirtySeconds()
      .slice(20)
      .reduce(
        (signals, report) =>
          gatherSignals(signals, { settled: [report], claimedMs: report.to_ms }, new Date(start + report.to_ms)),
        gatherSignals(noSignals, first, new Date(start + 20 * 1017)),
      );
    const cutOff = watch(thirtySeconds(), (index) => (index < 10 ? index * 1017 : 60_000 + index * 1017));
    expect([suspicionsOf(late), suspicionsOf(cutOff)]).toEqual([[], []]);
  });

  test("neither delays of up to ten seconds nor stalls make an honest view suspicious", () => {
    const delays = fc.array(fc.record({ stallMs: fc.nat(30_000), networkMs: fc.nat(9_900) }), {
      minLength: 30,
      maxLength: 30,
    });
    fc.assert(
      fc.property(delays, (perSecond) => {
        let playedAt = 0;
        const times = perSecond.map(({ stallMs, networkMs }) => {
          playedAt += 1017 + stallMs;
          return playedAt + networkMs;
        });
        expect(suspicionsOf(watch(thirtySeconds(), (index) => times[index] ?? 0))).toEqual([]);
      }),
    );
  });
});
