import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "./logger.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("an outage logs one line a second, which counts the others; other lines are all logged", () => {
  const lines: { msg: string; linesLeftOut?: number }[] = [];
  const outage = new Error("the database has not answered for 2 s");
  const log = createLogger({
    level: "info",
    name: "test",
    isOutage: (error) => error === outage,
    write: (line) => void lines.push(JSON.parse(line)),
  });
  for (let second = 0; second < 3; second++) {
    for (let line = 0; line < 9; line++) {
      log.warn({ err: outage }, "a loop failed");
      log.error(outage, "a loop whose error is the first argument");
      log.child({ requestId: "r" }).warn({ unavailability: "out-of-reach" }, "a request could not be served now");
    }
    vi.advanceTimersByTime(1000);
  }
  log.error({ err: new Error("another fault") }, "another fault");
  log.warn({ unavailability: "overloaded" }, "a full queue");
  log.info("in words");
  log.fatal({ err: outage }, "the end");
  expect(lines.map(({ msg, linesLeftOut }) => [msg, linesLeftOut])).toEqual([
    ["a loop failed", undefined],
    ["a loop failed", 26],
    ["a loop failed", 26],
    ["another fault", undefined],
    ["a full queue", undefined],
    ["in words", undefined],
    ["the end", 26],
  ]);
});
