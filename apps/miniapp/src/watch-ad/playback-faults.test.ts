import { describe, expect, test } from "vitest";
import {
  checkProgress,
  describeFault,
  isPictureMissing,
  isTooShort,
  startProgress,
  type Verdict,
} from "./playback-faults.ts";

describe("the reported fault", () => {
  test.each([
    ["Chromium, missing file", 4, "MEDIA_ELEMENT_ERROR: Format error", "not-found"],
    ["Firefox, missing file", 4, "404: Not Found", "not-found"],
    ["WebKit, empty message", 4, "", "not-found"],
    ["Chromium, not a video", 4, "DEMUXER_ERROR_COULD_NOT_OPEN: FFmpegDemuxer: open context failed", "not-displayed"],
    ["Firefox, of something else than a video", 4, "NS_ERROR_DOM_MEDIA_METADATA_ERR (0x806e0006)", "not-displayed"],
    ["any, of a broken frame", 3, "PIPELINE_ERROR_DECODE", "not-displayed"],
    ["any, of a connection that broke off", 2, "PIPELINE_ERROR_READ", "other"],
  ] as const)("%s: code %i, %j is %s", (_browser, code, message, fault) => {
    expect(describeFault({ code, message })).toBe(fault);
  });

  test("a video that stalls without an error is a timeout", () => {
    expect(describeFault(null)).toBe("timeout");
  });
});

test.each([
  { declaredMs: 2000, fileMs: 1800, isShort: false },
  { declaredMs: 2000, fileMs: 1799, isShort: true },
  { declaredMs: 30_000, fileMs: 29_000, isShort: false },
  { declaredMs: 30_000, fileMs: 28_999, isShort: true },
  { declaredMs: 60_000, fileMs: 58_200, isShort: false },
  { declaredMs: 60_000, fileMs: 58_199, isShort: true },
  { declaredMs: 2000, fileMs: Number.NaN, isShort: false },
])("a file of $fileMs ms for $declaredMs ms is too short: $isShort", ({ declaredMs, fileMs, isShort }) => {
  expect(isTooShort(fileMs, declaredMs)).toBe(isShort);
});

test.each([
  ["no size yet", { picture: undefined, movedMs: 499 }, false],
  ["no size after half a second", { picture: undefined, movedMs: 500 }, true],
  ["no size at the end of a short file", { picture: undefined, movedMs: 300, isAtEnd: true }, true],
  ["a size and frames", { movedMs: 9000 }, false],
  ["a size and no frame yet", { isFrameless: true, movedMs: 999 }, false],
  ["a size and no frame in a second", { isFrameless: true, movedMs: 1000 }, true],
])("%s: the picture is missing: %o, %s", (_name, changed, isMissing) => {
  const shown = { picture: {}, isFrameless: false, movedMs: 0, isAtEnd: false };
  expect(isPictureMissing({ ...shown, ...changed })).toBe(isMissing);
});

describe("the watchdog", () => {
  /** The verdicts other than "fine", with their second. */
  function verdicts(positionAt: (second: number) => number, seconds: number, isLoading = true): [number, Verdict][] {
    let progress = startProgress(positionAt(0), 0);
    const faults: [number, Verdict][] = [];
    for (let second = 1; second <= seconds; second++) {
      const step = checkProgress(progress, positionAt(second), second * 1000, isLoading);
      progress = step.progress;
      if (step.verdict !== "fine") faults.push([second, step.verdict]);
    }
    return faults;
  }

  test("playback that progresses, however slowly, is not interrupted", () => {
    expect(verdicts((second) => second * 100, 60)).toEqual([]);
  });

  test("a file that loads for 7 s is loaded again, then by another element, then given up", () => {
    expect(verdicts(() => 0, 60)).toEqual([
      [7, "reload"],
      [14, "renew"],
      [21, "give-up"],
    ]);
  });

  test("a video that stands still although nothing is missing is restarted before each other recovery", () => {
    expect(verdicts(() => 70, 60, false)).toEqual([
      [1, "restart"],
      [3, "reload"],
      [4, "restart"],
      [6, "renew"],
      [7, "restart"],
      [9, "give-up"],
    ]);
  });

  test("a position that goes back, as in a reload, is not progress", () => {
    expect(verdicts((second) => (second < 7 ? 5000 : 0), 21)).toEqual([
      [7, "reload"],
      [14, "renew"],
      [21, "give-up"],
    ]);
  });

  test("a recovery that moves the video for less than two seconds has failed", () => {
    expect(verdicts((second) => (second < 4 ? 70 : second < 8 ? 500 : 900), 20, false)).toEqual([
      [1, "restart"],
      [3, "reload"],
      [5, "restart"],
      [7, "renew"],
      [9, "restart"],
      [11, "give-up"],
    ]);
  });

  test("after two seconds of playback the next fault begins anew", () => {
    expect(verdicts((second) => (second < 10 ? 0 : Math.min(second, 12) * 1000), 20)).toEqual([
      [7, "reload"],
      [19, "reload"],
    ]);
  });
});
