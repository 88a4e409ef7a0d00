import { retryAfterSeconds } from "@intermission/ad-core/retry-after-seconds";
import type { RequestErrorClass } from "@intermission/ad-core/wire-fields";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import { judgeAttempt, retryDelaySeconds } from "./attempt-delivery.ts";

const steps = [5, 30, 120, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 86_400];
const now = new Date("2026-03-01T12:00:00Z");

test("there are twelve attempts over 70 h 42 min, then no more", () => {
  const delays = steps.map((_, index) => retryDelaySeconds({ failures: index + 1, jitter: 0 }));
  expect(delays).toEqual(steps);
  expect(Math.floor(steps.reduce((sum, step) => sum + step) / 60)).toBe(70 * 60 + 42);
  expect(retryDelaySeconds({ failures: 12, jitter: 0, retryAfterSeconds: 10 })).toBeUndefined();
});

test("an attempt is never early, at most 20 % late, and Retry-After delays it by at most an hour", () => {
  const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const retryAfters = fc.option(fc.nat(), { nil: undefined });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 11 }), jitter, retryAfters, (failures, chance, retryAfter) => {
      const step = steps[failures - 1] ?? 0;
      const delay = retryDelaySeconds({ failures, jitter: chance, retryAfterSeconds: retryAfter }) ?? -1;
      expect(delay).toBeGreaterThanOrEqual(step);
      expect(delay).toBeGreaterThanOrEqual(Math.min(retryAfter ?? 0, 3600));
      expect(delay).toBeLessThanOrEqual(Math.max(step * 1.2, 3600));
      if (retryAfter === undefined) expect(delay).toBeLessThanOrEqual(step * 1.2);
    }),
  );
});

test.each([
  ["0", 0],
  ["5", 5],
  ["99999999", 99_999_999],
  ["Sun, 01 Mar 2026 12:02:00 GMT", 120],
  ["Sun, 01 Mar 2026 11:00:00 GMT", 0],
  ["-1", undefined],
  ["1.5", undefined],
  ["5 ", 5],
  ["", undefined],
  ["soon", undefined],
  ["2026-03-01T12:02:00Z", undefined],
  ["Sun, 99 Mar 2026 12:02:00 GMT", undefined],
  ["9".repeat(100), undefined],
  [undefined, undefined],
])("Retry-After %j is %j", (header, seconds) => expect(retryAfterSeconds(header, now)).toBe(seconds));

const exchange = {
  address: undefined,
  timings: { dnsMs: null, tcpMs: null, tlsMs: null, firstByteMs: null, totalMs: 1 },
};
const content = {
  text: "",
  contentType: undefined,
  contentEncoding: undefined,
  isWhole: true,
  bodyBytes: 0,
  signs: "",
};
const answered = (status: number, retryAfter?: string): GuardedResult => ({
  outcome: "answered",
  status,
  retryAfter,
  ...content,
  ...exchange,
});
const failed = (errorClass: RequestErrorClass): GuardedResult => ({
  outcome: "failed",
  errorClass,
  wasSent: false,
  detail: "",
  ...exchange,
});

// A proxy answers 502, 503 or 504 for a receiver that restarts, or its machine does not answer: it is back within seconds.
test.each([
  ["502", answered(502), null],
  ["503", answered(503), null],
  ["503 with Retry-After: 2", answered(503, "2"), 2],
  ["504", answered(504), null],
  ["a refused connection", failed("refused"), null],
  ["a connection that is not made in time", failed("timeout-connect"), null],
  ["429", answered(429), 60],
  ["429 with Retry-After: 90", answered(429, "90"), 90],
  ["no answer in time", failed("timeout-total"), 60],
  ["410", answered(410), 600],
])("after %s nothing is sent to the endpoint for %s", (_name, result, backoffSeconds) => {
  const attempt = { result, scheduleStep: 0, deliveryMode: "at-least-once" as const, jitter: 0, now };
  expect(judgeAttempt(attempt)).toMatchObject({ state: "waiting", backoffSeconds });
});
