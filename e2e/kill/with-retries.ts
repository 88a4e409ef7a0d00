import { setTimeout as wait } from "node:timers/promises";

/** Retries while a server is down, as a phone or a bot would. A result of `undefined` means retry. */
export async function withRetries<T>(
  what: string,
  attempt: () => Promise<T | undefined>,
  { withinMs = 300_000, pauseMs = 150 } = {},
): Promise<T> {
  const until = Date.now() + withinMs;
  let fault: unknown;
  while (Date.now() < until) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      fault = error;
    }
    await wait(pauseMs);
  }
  throw new Error(`${what} did not succeed in ${withinMs / 1000} s`, { cause: fault });
}
