import type { ProgressReport } from "@intermission/ad-core/player-api";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectedFrames, type FramesBySecond } from "./expected-frames.ts";
import {
  gatherSignals,
  noSignals,
  numbersOf,
  signalsOf,
  suspicionsOf,
  type ViewingSignals,
} from "./viewing-signals.ts";

/** A phone's window, and the frame over all of it. */
const frame = { in_view: 1, width: 360, height: 640, window_width: 360, window_height: 640 };
/** 25 frames in each of 31 seconds. */
const film: FramesBySecond = Array(31).fill(25);
const start = Date.parse("2026-01-01T12:00:00Z");

/** A player's ranges are a frame or two longer than a second. */
function playedRange(second: number, changes: Partial<ProgressReport> = {}): ProgressReport {
  const [from_ms, to_ms] = [second * 1017, (second + 1) * 1017];
  return { sequence: second, from_ms, to_ms, visible: true, muted: true, rendered_frames: 25, ...changes };
}

/** One call for each second, as a player sends them; `atMs` is when each call arrives. */
function watch(
  reports: readonly ProgressReport[],
  atMs = (index: number) => (index + 1) * 1017,
  file: FramesBySecond | "unseen" = film,
): ViewingSignals {
  return reports.reduce((signals, report, index) => {
    const claimedMs = Math.max(...reports.slice(0, index + 1).map(({ to_ms }) => to_ms));
    return gatherSignals(
      signals,
      { settled: [report], claimedMs },
      file === "unseen" ? undefined : file,
      new Date(start + atMs(index)),
    );
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
      name: "three seconds in a frame that was not in view",
      signals: watch(thirtySeconds((second) => ({ frame: { ...frame, in_view: second < 3 ? 0.89 : 1 } }))),
      suspicions: ["not-in-view"],
    },
    {
      name: "most of it in a frame with something over it",
      signals: watch(thirtySeconds((second) => ({ frame: { ...frame, covered: second > 10 } }))),
      suspicions: ["covered"],
    },
    {
      name: "none for a banner of the client over the frame for a third of it",
      signals: watch(thirtySeconds((second) => ({ frame: { ...frame, covered: second < 10 } }))),
      suspicions: [],
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
    expect(suspicionsOf(signals, film)).toEqual(suspicions);
  });

  test("a start that arrives 20 s late and a minute without a network do not count as faster than time", () => {
    // What the network held back arrives in one call.
    const first = { settled: thirtySeconds().slice(0, 20), claimedMs: 20 * 1017 };
    const late = thirtySeconds()
      .slice(20)
      .reduce(
        (signals, report) =>
          gatherSignals(signals, { settled: [report], claimedMs: report.to_ms }, film, new Date(start + report.to_ms)),
        gatherSignals(noSignals, first, film, new Date(start + 20 * 1017)),
      );
    const cutOff = watch(thirtySeconds(), (index) => (index < 10 ? index * 1017 : 60_000 + index * 1017));
    expect([suspicionsOf(late, film), suspicionsOf(cutOff, film)]).toEqual([[], []]);
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
        expect(
          suspicionsOf(
            watch(thirtySeconds(), (index) => times[index] ?? 0),
            film,
          ),
        ).toEqual([]);
      }),
    );
  });
});

/** Where a video's frames begin, in milliseconds, and how long it lasts. */
interface Video {
  frames: readonly number[];
  durationMs: number;
}

function everyMs(stepMs: number, { untilMs, durationMs }: { untilMs: number; durationMs: number }): Video {
  return { frames: Array.from({ length: Math.ceil(untilMs / stepMs) }, (_, index) => index * stepMs), durationMs };
}

function bySecond({ frames, durationMs }: Video): FramesBySecond {
  const counts = Array<number>(Math.ceil(durationMs / 1000)).fill(0);
  for (const at of frames) counts[Math.floor(at / 1000)] = (counts[Math.floor(at / 1000)] ?? 0) + 1;
  return counts;
}

/**
 * Plays a video as a browser does: it decodes some frames ahead, counts them then, and drops some. `countsFromLoading`: the
 * first report has the frames that were decoded before playback, as those of this mini-app do.
 */
function play(
  video: Video,
  player: { stepMs: number; prefetchedFrames: number; dropped: number; countsFromLoading: boolean },
): ProgressReport[] {
  const { frames, durationMs } = video;
  const { stepMs, prefetchedFrames, dropped, countsFromLoading } = player;
  const countedAt = (positionMs: number) => {
    const shown = frames.filter((at) => at <= positionMs).length;
    // The first frame is always decoded: without it there is no picture.
    return 1 + Math.floor((Math.min(frames.length, shown + prefetchedFrames) - 1) * (1 - dropped));
  };
  let reported = countsFromLoading ? 0 : countedAt(0);
  return Array.from({ length: Math.ceil(durationMs / stepMs) }, (_, index) => {
    const from_ms = index * stepMs + (index === 0 ? 0 : 3);
    const to_ms = Math.min((index + 1) * stepMs + 3, durationMs);
    const rendered_frames = countedAt(to_ms) - reported;
    reported = countedAt(to_ms);
    return { sequence: index, from_ms, to_ms, visible: true, muted: true, rendered_frames };
  });
}

const judge = (reports: readonly ProgressReport[], file: FramesBySecond | undefined) =>
  suspicionsOf(
    watch(reports, (index) => reports[index]?.to_ms ?? 0, file ?? "unseen"),
    file,
  );

const slides = everyMs(5000, { untilMs: 30_000, durationMs: 30_000 });
const still = everyMs(30_000, { untilMs: 1, durationMs: 30_000 });
const longSound = everyMs(40, { untilMs: 5000, durationMs: 30_000 });
const smooth = everyMs(1000 / 60, { untilMs: 30_000, durationMs: 30_000 });

test("each signal keeps its place in the stored numbers, and is read as none where an older view lacks it", () => {
  const openedAt = new Date(start);
  const signals: ViewingSignals = {
    hiddenMs: 0,
    visibleMs: 1,
    countedMs: 2,
    frames: 3,
    expectedFrames: 4,
    movingMs: 5,
    framelessMs: 6,
    ranges: 7,
    evenRanges: 8,
    firstAtMs: start + 9,
    firstClaimedMs: 10,
    leadMs: 11,
    calls: 12,
    atOnce: 13,
    unheard: 14,
    outOfViewMs: 15,
    coveredMs: 16,
  };
  const numbers = numbersOf(signals, openedAt);
  expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  expect(signalsOf(numbers, openedAt)).toEqual(signals);
  const older = signalsOf(numbers.slice(0, 9), openedAt);
  expect(older).toMatchObject({ evenRanges: 8, firstAtMs: null, firstClaimedMs: 0, unheard: 0, coveredMs: 0 });
  expect(signalsOf(numbersOf(noSignals, openedAt), openedAt)).toEqual(noSignals);
});

describe("the frames that a file has", () => {
  const honest: [name: string, video: Video, dropped: number][] = [
    ["slides of one frame in 5 s", slides, 0],
    ["a still with sound", still, 0],
    ["sound much longer than the picture", longSound, 0],
    ["60 frames a second on a phone that drops half", smooth, 0.5],
    ["one frame a second", everyMs(1000, { untilMs: 30_000, durationMs: 30_000 }), 0],
  ];
  for (const [name, video, dropped] of honest) {
    const players = [1017, 3750, 10_000].flatMap((stepMs) => [true, false].map((from) => ({ stepMs, from })));
    test.each(players)(`${name}: an honest view raises no suspicion, reports of $stepMs ms`, ({ stepMs, from }) => {
      const reports = play(video, { stepMs, prefetchedFrames: 4, dropped, countsFromLoading: from });
      expect(judge(reports, bySecond(video))).toEqual([]);
    });
  }

  test.each([
    ["slides", slides],
    ["a film", everyMs(40, { untilMs: 30_000, durationMs: 30_000 })],
    ["sound much longer than the picture", longSound],
    ["60 frames a second", smooth],
  ])("%s: a script that renders nothing is marked", (_name, video) => {
    const reports = play(video, { stepMs: 3750, prefetchedFrames: 0, dropped: 0, countsFromLoading: true });
    const blind = reports.map((report) => ({ ...report, rendered_frames: 0 }));
    expect(judge(blind, bySecond(video))).toEqual(["no-frames"]);
  });

  test("of a video that the service has not seen, no frame at all is suspicious, and few frames are not", () => {
    const reports = play(slides, { stepMs: 3750, prefetchedFrames: 4, dropped: 0, countsFromLoading: true });
    expect(judge(reports, undefined)).toEqual([]);
    expect(
      judge(play(still, { stepMs: 3750, prefetchedFrames: 0, dropped: 0, countsFromLoading: true }), undefined),
    ).toEqual([]);
    const blind = reports.map((report) => ({ ...report, rendered_frames: 0 }));
    expect(judge(blind, undefined)).toEqual(["no-frames"]);
  });

  test("no honest view of any video is suspicious, and every view of a moving one without frames is", () => {
    const parts = fc.array(
      fc.record({ lengthMs: fc.integer({ min: 500, max: 20_000 }), rate: fc.constantFrom(0, 0.2, 1, 5, 12, 25, 60) }),
      { minLength: 1, maxLength: 6 },
    );
    const player = fc.record({
      stepMs: fc.integer({ min: 1001, max: 10_000 }),
      prefetchedFrames: fc.nat(10),
      dropped: fc.constantFrom(0, 0.25, 0.5),
      countsFromLoading: fc.constant(true),
    });
    fc.assert(
      fc.property(parts, player, (recipe, settings) => {
        const frames = [0];
        let durationMs = 0;
        for (const { lengthMs, rate } of recipe) {
          for (let at = 0; rate > 0 && at < lengthMs; at += 1000 / rate)
            if (durationMs + at > 0) frames.push(durationMs + at);
          durationMs += lengthMs;
        }
        const video = { frames, durationMs };
        const file = bySecond(video);
        const reports = play(video, settings);
        expect(judge(reports, file).filter((suspicion) => suspicion === "no-frames")).toEqual([]);
        const blind = reports.map((report) => ({ ...report, rendered_frames: 0 }));
        const isMoving = durationMs >= 3000 && expectedFrames(file, [0, durationMs]) > 5;
        if (isMoving) expect(judge(blind, file)).toContain("no-frames");
      }),
    );
  });

  test("the frames of a part of a video never exceed those of the whole, and adjoining parts add up", () => {
    const file = fc.array(fc.nat(60), { maxLength: 30 });
    fc.assert(
      fc.property(file, fc.nat(40_000), fc.nat(40_000), fc.nat(40_000), (frames, ...positions) => {
        const [a = 0, b = 0, c = 0] = positions.toSorted((x, y) => x - y);
        const whole = expectedFrames(frames, [0, 60_000]);
        expect(whole).toBeCloseTo(frames.reduce((sum, count) => sum + count, 0));
        expect(expectedFrames(frames, [a, b]) + expectedFrames(frames, [b, c])).toBeCloseTo(
          expectedFrames(frames, [a, c]),
        );
        expect(expectedFrames(frames, [a, c])).toBeLessThanOrEqual(whole + 1e-6);
      }),
    );
  });
});
