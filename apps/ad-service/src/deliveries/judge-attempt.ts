import { retryAfterSeconds } from "@intermission/ad-core/retry-after-seconds";
import type { DeliveryMode } from "../bots/bots.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import type { EndReason } from "./deliveries.ts";

export interface Judgement {
  state: "delivered" | "failed" | "unknown" | "waiting";
  /** Delay until the next attempt, when `waiting`. */
  delaySeconds: number | null;
  endReason: EndReason | null;
  /** How long nothing is sent to the endpoint; null: no rest. */
  restSeconds: number | null;
}

const REST_SECONDS = 60;
const GONE_REST_SECONDS = 600;
const RESTING_STATUS = new Set([429, 502, 503, 504]);

/**
 * The outcome of an attempt for its delivery and its endpoint. Any 2xx delivers. For at-most-once bots only a request of
 * which no byte was sent may be repeated: an answer other than 2xx is `failed`, no answer is `unknown`.
 */
export function judgeAttempt(attempt: {
  result: GuardedResult;
  /** Failures that the schedule counts, this attempt not included. */
  scheduleStep: number;
  deliveryMode: DeliveryMode;
  jitter: number;
  now: Date;
}): Judgement {
  const { result, scheduleStep, deliveryMode, jitter, now } = attempt;
  if (isSuccess(result)) return { state: "delivered", delaySeconds: null, endReason: null, restSeconds: null };

  const askedSeconds = retryAfterSeconds(result.retryAfter, now);
  const restSeconds = restAfter(result, askedSeconds ?? 0, jitter);
  const mayHaveArrived = result.outcome === "answered" || result.wasSent;
  if (deliveryMode === "at-most-once" && mayHaveArrived) {
    const state = result.status === undefined ? "unknown" : "failed";
    return { state, delaySeconds: null, endReason: "at-most-once", restSeconds };
  }
  const delaySeconds = retryDelaySeconds({ failures: scheduleStep + 1, jitter, retryAfterSeconds: askedSeconds });
  return delaySeconds === undefined
    ? { state: "failed", delaySeconds: null, endReason: "attempts-used-up", restSeconds }
    : { state: "waiting", delaySeconds, endReason: null, restSeconds };
}

export function isSuccess(result: GuardedResult): boolean {
  return result.outcome === "answered" && result.status >= 200 && result.status <= 299;
}

/** An endpoint rests if it answers that it is overloaded or gone, or does not answer in time. */
function restAfter(result: GuardedResult, askedSeconds: number, jitter: number): number | null {
  const rest = Math.max(usualRest(result) * (1 + 0.2 * jitter), Math.min(askedSeconds, LONGEST_RETRY_AFTER));
  return rest > 0 ? rest : null;
}

function usualRest(result: GuardedResult): number {
  if (result.status === 410) return GONE_REST_SECONDS;
  const isTimeout = result.outcome === "failed" && result.errorClass.startsWith("timeout");
  return isTimeout || RESTING_STATUS.has(result.status ?? 0) ? REST_SECONDS : 0;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** From the end of each failed attempt to the next: 12 attempts over 70 h 42 min. */
const STEPS = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 24 * HOUR];
const LARGEST_JITTER = 0.2;
/** An endpoint may request a delay, but not postpone the schedule for days. */
const LONGEST_RETRY_AFTER = HOUR;

/**
 * Seconds from the end of a failed attempt to the next, never less than the step; undefined after the last.
 *
 * `jitter` in [0, 1) spreads attempts that failed together over a further 20 %.
 */
export function retryDelaySeconds(failed: {
  /** Failed attempts of the schedule, the last one included: 1 to 12. */
  failures: number;
  jitter: number;
  retryAfterSeconds?: number | undefined;
}): number | undefined {
  const step = STEPS[failed.failures - 1];
  if (step === undefined) return undefined;
  const asked = Math.min(failed.retryAfterSeconds ?? 0, LONGEST_RETRY_AFTER);
  return Math.max(step * (1 + LARGEST_JITTER * failed.jitter), asked);
}
