import { afterEach, expect, test, vi } from "vitest";
import { retryPauseMs } from "./retry-pause.ts";

afterEach(() => vi.restoreAllMocks());

test("pauses double up to their limit, and none is shorter than the service requests", () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  expect([0, 1, 2, 3, 9].map((failures) => retryPauseMs(failures, 1000, 8000))).toEqual([1000, 2000, 4000, 8000, 8000]);
  expect(retryPauseMs(0, 1000, 8000, 5000)).toBe(5000);
});

test("pages that failed together come back one after the other, over half of the pause", () => {
  const pauses = Array.from({ length: 1000 }, () => retryPauseMs(0, 1000, 8000, 5000));
  const of = (fromMs: number, toMs: number) => pauses.filter((pause) => pause >= fromMs && pause < toMs).length;
  const eachOf250Ms = Array.from({ length: 10 }, (_, index) => of(5000 + index * 250, 5250 + index * 250));
  expect(eachOf250Ms.reduce((sum, count) => sum + count, 0)).toBe(1000);
  expect(Math.max(...eachOf250Ms)).toBeLessThan(200);
});
