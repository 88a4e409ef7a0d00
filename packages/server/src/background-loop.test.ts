import { expect, test, vi } from "vitest";
import { startLoop } from "./background-loop.ts";

const onFault = (error: unknown) => {
  throw error;
};

test("a round that has more work is followed by the next one immediately, and never by two at the same time", async () => {
  let running = 0;
  let most = 0;
  const rounds = vi.fn(async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running -= 1;
    return rounds.mock.calls.length < 5 ? 0 : undefined;
  });
  const loop = startLoop({ everyMs: 3_600_000, round: rounds, onFault });
  await vi.waitFor(() => expect(rounds).toHaveBeenCalledTimes(5));
  await loop.stop();
  expect(most).toBe(1);
  expect(rounds).toHaveBeenCalledTimes(5);
});

test("a failed round is reported, and the next one follows", async () => {
  const faults: unknown[] = [];
  const round = vi.fn(async () => {
    if (round.mock.calls.length === 1) throw new Error("broken");
    return 3_600_000;
  });
  const loop = startLoop({ everyMs: 1, round, onFault: (error) => faults.push(error) });
  await vi.waitFor(() => expect(round).toHaveBeenCalledTimes(2));
  await loop.stop();
  expect(faults).toEqual([new Error("broken")]);
});

test("a stop waits for the current round, which sees the signal, and ends a pause immediately", async () => {
  let isEnded = false;
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const working = startLoop({
    everyMs: 1,
    async round(stopping) {
      begin();
      await new Promise((resolve) => stopping.addEventListener("abort", resolve));
      await new Promise(setImmediate);
      isEnded = true;
      return 0;
    },
    onFault,
  });
  await begun;
  await Promise.all([working.stop(), working.stop()]);
  expect(isEnded).toBe(true);

  const round = vi.fn(async () => undefined);
  await startLoop({ everyMs: 3_600_000, firstInMs: 3_600_000, round, onFault }).stop();
  expect(round).not.toHaveBeenCalled();
});
