import { afterEach, expect, test, vi } from "vitest";
import { clockWarning, followDatabaseClock, judgeClock } from "./database-clock.ts";
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

test.each([
  ["goes on", { databaseMs: 2000, machineMs: 2000 }, "steady"],
  ["is a minute late at most", { databaseMs: 61_000, machineMs: 1000 }, "steady"],
  ["jumps, and the machine's does not", { databaseMs: day, machineMs: 1000 }, "doubted"],
  ["jumps back, and the machine's does not", { databaseMs: -day, machineMs: 1000 }, "doubted"],
  ["has jumped for nine minutes", { databaseMs: day, machineMs: 1000, doubtedForMs: 9 * 60_000 }, "doubted"],
  ["has jumped for ten minutes", { databaseMs: day, machineMs: 1000, doubtedForMs: 10 * 60_000 }, "believed"],
  ["is set to the machine's", { databaseMs: -10 * day, machineMs: -10 * day }, "corrected"],
  ["and the machine's jump, as both resume", { databaseMs: day, machineMs: day }, "corrected"],
])("a database whose clock %s is judged so", (_what, { databaseMs, machineMs, ...more }, judgement) => {
  const doubtedForMs = "doubtedForMs" in more ? more.doubtedForMs : 0;
  expect(judgeClock({ expectedMs: 1000, databaseMs, machineMs, doubtedForMs })).toBe(judgement);
});

test("clocks that have agreed for an hour without a jump are settled, and not for an hour after one jumped or was wrong", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setInterval", "clearInterval"] });
  let wrongBy = 0;
  const clock = await followDatabaseClock(databaseAt(() => Date.now() + wrongBy));
  const isSettledAfter = async (minutes: number) => {
    await vi.advanceTimersByTimeAsync(minutes * 60_000);
    return clock.isSettled();
  };
  expect(clock.isSettled()).toBe(false);
  expect([await isSettledAfter(59), await isSettledAfter(2)]).toEqual([false, true]);
  wrongBy = 2 * 60_000;
  expect([await isSettledAfter(1), await isSettledAfter(120)]).toEqual([false, false]);
  wrongBy = 0;
  expect([await isSettledAfter(59), await isSettledAfter(2)]).toEqual([false, true]);
  // Both clocks are set, as on one machine.
  vi.setSystemTime(Date.now() + 1000 * day);
  expect([await isSettledAfter(59), await isSettledAfter(2)]).toEqual([false, true]);
  clock.stop();
});

test("a database's clock that jumps ahead for minutes and back moves nothing, is named, and is believed after ten minutes", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setInterval", "clearInterval"] });
  let wrongBy = 0;
  const logged: string[] = [];
  const log = (_facts: object, message: string) => void logged.push(message);
  const clock = await followDatabaseClock(
    databaseAt(() => Date.now() + wrongBy),
    { logger: { info: log, warn: log } },
  );
  const errorMs = () => clock.now().getTime() - Date.now();
  await vi.advanceTimersByTimeAsync(10_000);
  for (const jump of [day, -day]) {
    wrongBy = jump;
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(errorMs()).toBe(0);
    expect(clockWarning(clock)).toMatch(jump > 0 ? /jumped 86400 s ahead, which/ : /jumped 86400 s back, which/);
    wrongBy = 0;
    await vi.advanceTimersByTimeAsync(2000);
    expect([errorMs(), clockWarning(clock)]).toEqual([0, undefined]);
  }
  expect(clock.jumps()).toBe(4);
  expect(logged).toEqual([
    expect.stringMatching(/clock jumped: .*set the clock of its machine right/),
    expect.stringMatching(/jumped back to the time that is used/),
    expect.stringMatching(/clock jumped: .*set the clock of its machine right/),
    expect.stringMatching(/jumped back to the time that is used/),
  ]);
  wrongBy = day;
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  expect(errorMs()).toBe(day);
  expect(clockWarning(clock)).toMatch(/this machine's clock is 86400 s behind the database's/);
  expect(logged.at(-1)).toMatch(/has lasted/);
  wrongBy = 0;
  await vi.advanceTimersByTimeAsync(2000);
  expect([errorMs(), clockWarning(clock)]).toEqual([0, undefined]);
  clock.stop();
});
