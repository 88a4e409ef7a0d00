import type { DeliveryMode } from "../bots/schema.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import { retryAfterSeconds } from "./retry-after-seconds.ts";
import { retryDelaySeconds } from "./retry-delay-seconds.ts";

export type Judgement = { state: "delivered" | "failed" | "unknown" } | { state: "waiting"; delaySeconds: number };

/**
 * What an attempt makes of its delivery. Any 2xx delivers. For at-most-once bots only a request of which not a byte
 * left may be repeated: an answer other than 2xx is `failed`, no answer is `unknown`.
 */
export function judgeAttempt(attempt: {
  result: GuardedResult;
  attemptsMade: number;
  deliveryMode: DeliveryMode;
  jitter: number;
  now: Date;
}): Judgement {
  const { result, attemptsMade, deliveryMode, jitter, now } = attempt;
  if (result.outcome === "answered" && result.status >= 200 && result.status <= 299) return { state: "delivered" };

  const mayHaveArrived = result.outcome === "answered" || result.wasSent;
  if (deliveryMode === "at-most-once" && mayHaveArrived) {
    return { state: result.status === undefined ? "unknown" : "failed" };
  }
  const delaySeconds = retryDelaySeconds({
    attemptsMade,
    jitter,
    retryAfterSeconds: retryAfterSeconds(result.retryAfter, now),
  });
  return delaySeconds === undefined ? { state: "failed" } : { state: "waiting", delaySeconds };
}
