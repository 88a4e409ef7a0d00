import type { ProgressReport, ReportResponse } from "@intermission/ad-core/player-api";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Answer } from "../ad-service-client.ts";
import { type Call, ReportQueue } from "./report-queue.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const range = (sequence: number): ProgressReport => ({
  sequence,
  from_ms: sequence * 1000,
  to_ms: (sequence + 1) * 1000,
  visible: true,
  muted: true,
});
const unreachable: Answer<never> = { outcome: "unreachable", retryAfterMs: 0 };

function acknowledging(call: Call, response: Partial<ReportResponse> = {}): Answer<ReportResponse> {
  const acknowledged = call.reports.map(({ sequence }) => sequence);
  const body = { state: "playing" as const, accepted_ms: 0, acknowledged, refused: [], server_time: "", ...response };
  return { outcome: "answered", body };
}

/** A fake endpoint: returns the given responses after `takesMs` and records the calls. */
function endpoint(answer: (call: Call, index: number) => Answer<ReportResponse>, takesMs = (_: number) => 50) {
  const calls: Call[] = [];
  const beacons: Call[] = [];
  const refusals: string[] = [];
  const connections: boolean[] = [];
  const states: string[] = [];
  const queue = new ReportQueue({
    send: async (call) => {
      const index = calls.push(call) - 1;
      await new Promise((resolve) => setTimeout(resolve, takesMs(index)));
      return answer(call, index);
    },
    beacon: (call) => beacons.push(call) > 0,
    onAnswer: ({ state }) => states.push(state),
    onRefused: (code) => refusals.push(code),
    onConnection: (isReachable) => connections.push(isReachable),
  });
  const sequences = () => calls.map(({ reports }) => reports.map(({ sequence }) => sequence));
  return { queue, calls, beacons, refusals, connections, states, sequences };
}

describe("no played range is lost", () => {
  test("reports are sent until they are acknowledged, and then not again", async () => {
    const { queue, sequences, connections } = endpoint((call, index) =>
      index < 2 ? unreachable : acknowledging(call),
    );
    queue.start();
    queue.add([range(0)], false);
    await vi.advanceTimersByTimeAsync(3000);
    queue.add([range(1)], false);
    await vi.advanceTimersByTimeAsync(3000);
    expect(sequences()).toEqual([[], [0], [0], [1]]);
    expect(connections).toEqual([false, false, true, true]);
  });

  test("each call carries the start until the service has acknowledged it", async () => {
    const { queue, calls } = endpoint((call, index) => (index === 0 ? unreachable : acknowledging(call)));
    queue.start();
    await vi.advanceTimersByTimeAsync(1000);
    queue.add([range(0)], false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls.map(({ started }) => started)).toEqual([true, true, false]);
  });

  test("while playback continues, unacknowledged reports wait for the next call; when it stops, they do not", async () => {
    const kept = { acknowledged: [] };
    const { queue, calls, sequences } = endpoint((call) => acknowledging(call, call.playing ? kept : {}));
    queue.start();
    await vi.advanceTimersByTimeAsync(100);
    queue.add([range(0)], true);
    await vi.advanceTimersByTimeAsync(5000);
    queue.add([range(1)], true);
    await vi.advanceTimersByTimeAsync(5000);
    expect(sequences()).toEqual([[], [0], [0, 1]]);
    // Playback stops where its last report ended.
    queue.add([], false);
    await vi.advanceTimersByTimeAsync(5000);
    expect(sequences().slice(3)).toEqual([[0, 1]]);
    expect(calls.map(({ playing }) => playing)).toEqual([undefined, true, true, false]);
    expect(queue.isSettled).toBe(true);
  });

  test("a report that is too early is sent again at the time that the service returned, not before", async () => {
    const early = { acknowledged: [], too_early: { sequences: [0], retry_after_ms: 1500 } };
    const { queue, sequences } = endpoint((call, index) => acknowledging(call, index === 1 ? early : {}));
    queue.start();
    await vi.advanceTimersByTimeAsync(100);
    queue.add([range(0)], false);
    await vi.advanceTimersByTimeAsync(1400);
    expect(sequences()).toEqual([[], [0]]);
    await vi.advanceTimersByTimeAsync(200);
    expect(sequences()).toEqual([[], [0], [0]]);
  });

  test("a long backlog is sent completely, oldest first, in calls of a size that the service accepts", async () => {
    const { queue, calls } = endpoint((call) => acknowledging(call));
    queue.start();
    queue.add(
      Array.from({ length: 700 }, (_, index) => range(index)),
      false,
    );
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls.map(({ reports }) => reports.length)).toEqual([0, 300, 300, 100]);
    expect(queue.isSettled).toBe(true);
  });

  test("a backlog that is entirely too early does not cause a burst of calls", async () => {
    const { queue, calls } = endpoint((call) =>
      acknowledging(call, { acknowledged: [], too_early: { sequences: [0], retry_after_ms: 5000 } }),
    );
    queue.start();
    queue.add(
      Array.from({ length: 400 }, (_, index) => range(index)),
      false,
    );
    await vi.advanceTimersByTimeAsync(10_500);
    expect(calls.length).toBeLessThanOrEqual(4);
  });

  test("a page that is being closed sends all unacknowledged reports by beacon, and keeps them", async () => {
    const { queue, beacons, sequences } = endpoint((call, index) => (index < 2 ? unreachable : acknowledging(call)));
    queue.start();
    queue.add([range(0), range(1)], false);
    queue.leave("page-hidden");
    expect(beacons).toMatchObject([{ reports: [range(0), range(1)], started: true, closed: "page-hidden" }]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(sequences().at(-1)).toEqual([0, 1]);
  });

  test("a page that is closed before playback sends nothing", () => {
    const { queue, beacons } = endpoint((call) => acknowledging(call));
    queue.leave("page-hidden");
    expect(beacons).toEqual([]);
  });
});

describe("a call that hangs", () => {
  const hangs = (which: number) => (index: number) => (index === which ? 10_000 : 50);

  test("delays later reports by two seconds at most, and its failure does not affect the newer call", async () => {
    const { queue, sequences, connections } = endpoint(
      (call, index) => (index === 1 ? unreachable : acknowledging(call)),
      hangs(1),
    );
    queue.start();
    await vi.advanceTimersByTimeAsync(100);
    queue.add([range(0)], false);
    await vi.advanceTimersByTimeAsync(1000);
    queue.add([range(1)], false);
    await vi.advanceTimersByTimeAsync(1900);
    expect(sequences()).toEqual([[], [0]]);
    await vi.advanceTimersByTimeAsync(200);
    expect(sequences()).toEqual([[], [0], [0, 1]]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(sequences()).toHaveLength(3);
    expect(connections).toEqual([true, true]);
    expect(queue.isSettled).toBe(true);
  });

  test("that carries the end is repeated after two seconds, and the first of the two responses counts", async () => {
    const { queue, sequences, states } = endpoint((call) => acknowledging(call, { state: "watched" }), hangs(1));
    queue.start();
    await vi.advanceTimersByTimeAsync(100);
    queue.add([range(0)], false);
    queue.flush();
    expect(sequences()).toEqual([[], [0]]);
    await vi.advanceTimersByTimeAsync(2100);
    expect(sequences()).toEqual([[], [0], [0]]);
    expect(states).toEqual(["watched", "watched"]);
    expect(queue.isSettled).toBe(true);
  });

  test("with a late response has no effect except for its acknowledgements", async () => {
    const { queue, states, calls } = endpoint(
      (call, index) => acknowledging(call, { state: index === 1 ? "playing" : "watched" }),
      hangs(1),
    );
    queue.start();
    await vi.advanceTimersByTimeAsync(100);
    queue.add([range(0)], false);
    queue.flush();
    await vi.advanceTimersByTimeAsync(11_000);
    expect(states.slice(1)).not.toContain("playing");
    const before = calls.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls.length - before).toBe(2);
  });
});

describe("closing", () => {
  test("does not wait for a call that hangs, and carries everything", async () => {
    const { queue, calls } = endpoint((call) => acknowledging(call));
    queue.start();
    queue.add([range(0)], false);
    queue.close();
    expect(calls.at(-1)).toMatchObject({ reports: [range(0)], started: true, closed: "tap" });
  });

  test("is repeated until the service has received it, and ends with the reward", async () => {
    const { queue, calls, states } = endpoint((call, index) =>
      index < 3 ? unreachable : acknowledging(call, { state: call.closed ? "rewarded" : "watched" }),
    );
    queue.start();
    queue.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls.slice(1).every(({ closed }) => closed === "tap")).toBe(true);
    expect(states.at(-1)).toBe("rewarded");
    expect(calls.length).toBeLessThanOrEqual(5);
  });
});

test("a watched view sends a heartbeat every 5 s until it is closed", async () => {
  const { queue, calls } = endpoint((call) => acknowledging(call, { state: "watched" }));
  queue.start();
  await vi.advanceTimersByTimeAsync(16_000);
  expect(calls.length).toBe(4);
  expect(calls.slice(1)).toMatchObject([{ reports: [] }, { reports: [] }, { reports: [] }]);
});

test("retries back off up to 8 s, and never wait less than the service requests", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const { queue, calls } = endpoint((_, index) => ({ outcome: "unreachable", retryAfterMs: index === 6 ? 20_000 : 0 }));
  queue.start();
  await vi.advanceTimersByTimeAsync(500 + 1000 + 2000 + 4000 + 8000 + 8000 + 6 * 50);
  expect(calls.length).toBe(7);
  await vi.advanceTimersByTimeAsync(19_000);
  expect(calls.length).toBe(7);
  await vi.advanceTimersByTimeAsync(2000);
  expect(calls.length).toBe(8);
});

test("a refusal is reported once, and nothing is sent after it", async () => {
  const { queue, calls, refusals } = endpoint(() => ({ outcome: "refused", code: "SUPERSEDED", requestId: null }));
  queue.start();
  queue.add([range(0)], false);
  await vi.advanceTimersByTimeAsync(1000);
  queue.add([range(1)], false);
  queue.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(calls.length).toBe(1);
  expect(refusals).toEqual(["SUPERSEDED"]);
});
