import { afterEach, expect, test, vi } from "vitest";
import { clockWarning, followDatabaseClock } from "./database-clock.ts";
import type { Database } from "./open-database.ts";

const day = 86_400_000;

/** A database whose clock is right, and answers at once. */
function databaseAt(readMs: () => number): Pick<Database, "run"> {
  const run = async () => [{ ms: readMs() }];
  return { run: run as unknown as Database["run"] };
}

afterEach(() => vi.useRealTimers());

test.each([10 * day, -10 * day])(
  "a machine whose clock is wrong by %i ms uses the database's time, and says so",
  async (byMs) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const rightMs = Date.now();
    const startedAt = performance.now();
    vi.setSystemTime(rightMs + byMs);
    const clock = await followDatabaseClock(databaseAt(() => rightMs + performance.now() - startedAt));
    expect(Math.abs(clock.now().getTime() - rightMs)).toBeLessThan(1000);
    expect(Math.abs(clock.offsetMs() - byMs)).toBeLessThan(1000);
    expect(clockWarning(clock)).toMatch(
      byMs > 0 ? /86400\d s ahead of the database's/ : /(864000|863999) s behind the/,
    );
    clock.stop();
  },
);

test("a clock that jumps while the server runs moves nothing", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const rightMs = Date.now();
  const clock = await followDatabaseClock(databaseAt(() => rightMs));
  vi.setSystemTime(rightMs + 10 * day);
  expect(Math.abs(clock.now().getTime() - rightMs)).toBeLessThan(1000);
  expect(clockWarning(clock)).toBeUndefined();
  clock.stop();
});

test("a timer that jumps, as after a resumed machine, moves the time by half a minute at most, until the next comparison", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setInterval", "clearInterval"] });
  const rightMs = Date.now();
  const clock = await followDatabaseClock(databaseAt(() => rightMs));
  vi.advanceTimersByTime(1000);
  const { now } = performance;
  performance.now = () => now.call(performance) + 10 * day;
  expect(clock.now().getTime() - rightMs).toBeLessThanOrEqual(30_000);
  await vi.advanceTimersByTimeAsync(1100);
  expect(Math.abs(clock.now().getTime() - rightMs)).toBeLessThan(1000);
  performance.now = now;
  clock.stop();
});
