import { setTimeout as wait } from "node:timers/promises";

/** Another attempt would meet the same refusal: `withRetries` passes it on at once. */
export class LastingRefusal extends Error {
  override readonly name = "LastingRefusal";
}

/** The server names the earliest moment of another attempt, by `Retry-After` of 429. */
class SlowDown extends Error {
  override readonly name = "SlowDown";
  readonly seconds: number;
  constructor(seconds: number) {
    super(`the server asks for ${seconds} s of patience`);
    this.seconds = seconds;
  }
}

/**
 * Retries while a server is down, as a phone or a bot would: less and less often, and not at once with the others. A result
 * of `undefined` means retry.
 */
export async function withRetries<T>(
  what: string,
  attempt: () => Promise<T | undefined>,
  { withinMs = 300_000, pauseMs = 100, maxPauseMs = 1000 } = {},
): Promise<T> {
  const until = Date.now() + withinMs;
  let fault: unknown;
  for (let failures = 0; Date.now() < until; failures++) {
    let leastMs = 0;
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (error instanceof LastingRefusal) throw new Error(`${what} failed for good`, { cause: error });
      if (error instanceof SlowDown) leastMs = error.seconds * 1000;
      else fault = error;
    }
    const backoffMs = Math.max(leastMs, Math.min(pauseMs * 2 ** failures, maxPauseMs));
    await wait(backoffMs * (1 + Math.random() / 2));
  }
  throw new Error(`${what} did not succeed in ${withinMs / 1000} s`, { cause: fault });
}

/** For an attempt: an answer 503, as of a server that starts, means retry; 429 means retry when it says. */
export async function unlessUnavailable<Answer extends { readonly status: number; readonly retryAfterSeconds: number }>(
  asking: Promise<Answer>,
): Promise<Answer | undefined> {
  const answer = await asking;
  if (answer.status === 429) throw new SlowDown(answer.retryAfterSeconds);
  return answer.status === 503 ? undefined : answer;
}
