import { expect, test } from "vitest";
import { pauseBeforeRetry } from "./retry.ts";

const limits = { attempts: 1, retries: 2, isRepeatable: true, random: 0 };
const pageOf = (status: number | undefined) => ({ status, code: status ? "UNEXPECTED_ANSWER" : "UNREACHABLE" });
const ownOf = (status: number, retryAfterSeconds?: number) => ({ status, code: "UNAVAILABLE", retryAfterSeconds });

const temporary = [429, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530];

test("a repeatable call is sent again after the statuses of busy servers, proxies and Cloudflare, and no others", () => {
  const all = Array.from({ length: 900 }, (_, index) => index + 100);
  expect(all.filter((status) => pauseBeforeRetry(pageOf(status), limits) !== undefined)).toEqual(temporary);
});

test("a repeatable call is sent again without an answer", () => {
  expect(pauseBeforeRetry(pageOf(undefined), limits)).toBe(0.4);
});

test.each([400, 403, 409, 500])("Retry-After on a %d changes nothing", (status) => {
  expect(pauseBeforeRetry(ownOf(status, 1), limits)).toBeUndefined();
});

test.each<[string, ReturnType<typeof pageOf>, number | undefined]>([
  ["the server itself is busy", ownOf(503), 0.4],
  ["the server itself limits its rate", ownOf(429, 2), 2],
  ["a proxy is busy", pageOf(503), undefined],
  ["a proxy lost the server's answer", pageOf(504), undefined],
  ["the connection was lost", pageOf(undefined), undefined],
  ["the server's answer names a proxy's status", ownOf(502), undefined],
])("a call that must not be repeated is sent again only if it was refused: %s", (_what, failed, expected) => {
  expect(pauseBeforeRetry(failed, { ...limits, isRepeatable: false })).toBe(expected);
});

test("Retry-After is never cut short, and a longer one than the caller waits is left to it", () => {
  for (const random of [0, 0.5, 1]) {
    expect(pauseBeforeRetry(ownOf(429, 5), { ...limits, random })).toBeGreaterThanOrEqual(5);
    expect(pauseBeforeRetry(ownOf(429, 5.1), { ...limits, random })).toBeUndefined();
  }
  expect(pauseBeforeRetry(ownOf(503, 0), limits)).toBe(0);
});

test("attempts and their waits are bounded, and waits differ between callers", () => {
  const wait = (change: object) => pauseBeforeRetry(pageOf(502), { ...limits, ...change });
  expect([1, 2, 3].map((attempts) => wait({ attempts }))).toEqual([0.4, 0.8, undefined]);
  expect([5, 6].map((attempts) => wait({ attempts, retries: 9 }))).toEqual([undefined, undefined]);
  expect(wait({ random: 1 })).toBeCloseTo(0.48);
});
