import type { Unavailability } from "@intermission/postgres/store-faults";
import fc from "fast-check";
import { expect, test } from "vitest";
import { countingFor, giveBackCalls } from "./counted-calls.ts";
import { rateLimiter, secondsToWait, spend } from "./rate-limiter.ts";

const perToken = { quota: 200, windowSeconds: 4 };

test("a burst of the quota passes, and the next request is told when to retry", () => {
  const limiter = rateLimiter({ quota: 10, windowSeconds: 60 });
  const verdicts = Array.from({ length: 11 }, () => limiter.take("a", 1000));
  expect(verdicts.map(({ isAllowed }) => isAllowed)).toEqual([...Array(10).fill(true), false]);
  expect(verdicts[10]).toEqual({ isAllowed: false, remaining: 0, waitSeconds: 6 });
  expect(limiter.take("a", 6999).isAllowed).toBe(false);
  expect(limiter.take("a", 7000).isAllowed).toBe(true);
});

test("each key has its own limit", () => {
  const limiter = rateLimiter({ quota: 1, windowSeconds: 60 });
  expect([limiter.take("a", 0), limiter.take("b", 0)].map(({ isAllowed }) => isAllowed)).toEqual([true, true]);
});

test("in any window at most the quota and the refill of that time pass", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 1000 }), (gaps) => {
      const limiter = rateLimiter(perToken);
      let nowMs = 0;
      let passed = 0;
      for (const gap of gaps) {
        nowMs += gap;
        if (limiter.take("a", nowMs).isAllowed) passed += 1;
      }
      expect(passed).toBeLessThanOrEqual(200 + Math.ceil(nowMs * 0.05));
    }),
  );
});

test("a clock that steps back refills nothing", () => {
  const limiter = rateLimiter({ quota: 1, windowSeconds: 60 });
  limiter.take("a", 100_000);
  expect(limiter.take("a", 0).isAllowed).toBe(false);
  expect(limiter.take("a", 30_000).isAllowed).toBe(false);
});

test("a flood of keys does not grow its memory: the oldest keys are evicted", () => {
  const limiter = rateLimiter({ quota: 1, windowSeconds: 60, maxKeys: 4 });
  for (const key of ["a", "b", "c", "a", "d", "e"]) limiter.take(key, 0);
  expect(limiter.take("a", 0).isAllowed).toBe(false);
  expect(limiter.take("b", 0).isAllowed).toBe(true);
});

test("the limit of each key is a token bucket, whatever the order of the calls", () => {
  const limit = { quota: 3, windowSeconds: 1 };
  const keys = ["a", "b", "c"];
  // Bursts, separated by pauses shorter and longer than a window.
  const gapMs = fc.oneof(
    { weight: 3, arbitrary: fc.constant(1) },
    { weight: 2, arbitrary: fc.integer({ min: 200, max: 1100 }) },
  );
  const sequences = fc.array(fc.record({ gapMs, key: fc.constantFrom(...keys) }), { size: "max", maxLength: 200 });
  fc.assert(
    fc.property(sequences, (takes) => {
      const limiter = rateLimiter(limit);
      const models = new Map(keys.map((key) => [key, { level: limit.quota, atMs: 0 }]));
      let nowMs = 0;
      const verdicts: object[] = [];
      const expected: object[] = [];
      for (const { gapMs, key } of takes) {
        nowMs += gapMs;
        const model = models.get(key) ?? { level: 0, atMs: 0 };
        model.level = Math.min(limit.quota, model.level + (nowMs - model.atMs) * (limit.quota / 1000));
        model.atMs = nowMs;
        const isAllowed = model.level >= 1;
        if (isAllowed) model.level -= 1;
        const { waitSeconds: _, ...verdict } = limiter.take(key, nowMs);
        verdicts.push(verdict);
        expected.push({ isAllowed, remaining: Math.floor(model.level) });
      }
      expect(verdicts).toEqual(expected);
    }),
  );
});

test("a call too many throws 429 with the seconds to wait", () => {
  const limiter = rateLimiter({ quota: 1, windowSeconds: 30 });
  const at = (seconds: number) => new Date(seconds * 1000);
  const request = { id: "1" };
  spend(request, limiter, "a", at(0));
  const headers = { "retry-after": "20" };
  expect(() => spend(request, limiter, "a", at(10))).toThrow(expect.objectContaining({ statusCode: 429, headers }));
  const count = countingFor(request);
  expect([secondsToWait(count, limiter, "a", at(29)), secondsToWait(count, limiter, "a", at(30))]).toEqual([1, 0]);
});

test("what a request was counted as is given back once, unless the node was overloaded", () => {
  const left = (unavailabilities: readonly Unavailability[]) => {
    const [limiter, other] = [
      rateLimiter({ quota: 3, windowSeconds: 60 }),
      rateLimiter({ quota: 1, windowSeconds: 60 }),
    ];
    const request = { id: "1" };
    for (let call = 0; call < 4; call++) countingFor({ id: "2" })(limiter, "a", 0);
    limiter.giveBack("a");
    countingFor(request)(limiter, "a", 0);
    countingFor(request)(limiter, "a", 0);
    countingFor(request)(other, "b", 0);
    for (const unavailability of unavailabilities) giveBackCalls(request, unavailability);
    return [limiter, other].map((one, index) => one.take(index === 0 ? "a" : "b", 0).isAllowed);
  };
  expect(left(["overloaded"])).toEqual([false, false]);
  expect(left(["out-of-reach"])).toEqual([true, true]);
  expect(left(["commit-unknown", "out-of-reach"])).toEqual([true, true]);
});

test("a bucket never holds more than its quota, whatever is given back", () => {
  const limiter = rateLimiter({ quota: 2, windowSeconds: 60 });
  for (let time = 0; time < 5; time++) limiter.giveBack("a");
  limiter.take("a", 0);
  for (let time = 0; time < 5; time++) limiter.giveBack("a");
  expect([1, 2, 3].map(() => limiter.take("a", 0).isAllowed)).toEqual([true, true, false]);
});
