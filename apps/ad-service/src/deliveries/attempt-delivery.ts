import type { SigningTokens } from "../bots/signing-tokens.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";
import type { FinishedAttempt } from "./finish-deliveries.ts";
import { isSuccess, judgeAttempt } from "./judge-attempt.ts";
import { sendWebhook } from "./send-webhook.ts";

export type AttemptOutcome =
  | { outcome: "finished"; finished: FinishedAttempt }
  /** Nothing was sent, or the failure is not the endpoint's: no attempt is consumed. */
  | { outcome: "not-made"; to: "waiting" | "held"; delaySeconds: number };

export interface AttemptDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
  tokensOf: (botId: string) => Promise<SigningTokens | undefined>;
  log: { error(facts: object, message: string): void };
  /** True while the lease lasts long enough for a whole exchange and the node is not stopping. */
  mayStart: () => boolean;
  /** Aborts when a stop no longer waits for the attempt. */
  signal: AbortSignal;
}

/** After an internal error: long enough to avoid a busy loop, short enough not to matter. */
const OWN_FAULT_DELAY_SECONDS = 5;
/** After a claim that took too long, or a stop: claiming the same row again immediately would be a busy loop. */
const TOO_LATE_DELAY_SECONDS = 1;

/** Makes one attempt at a claimed delivery and returns what to record. Never throws. */
export async function attemptDelivery(deps: AttemptDeps, delivery: ClaimedDelivery): Promise<AttemptOutcome> {
  let startedAt: Date | undefined;
  try {
    const tokens = await deps.tokensOf(delivery.botId);
    if (tokens === undefined) return { outcome: "not-made", to: "held", delaySeconds: 0 };
    if (!deps.mayStart()) return { outcome: "not-made", to: "waiting", delaySeconds: TOO_LATE_DELAY_SECONDS };
    startedAt = new Date();
    const result = await sendWebhook(deps.requests, delivery, tokens, startedAt, deps.signal);
    return { outcome: "finished", finished: finishedBy(delivery, startedAt, result) };
  } catch (error) {
    if (!deps.signal.aborted) {
      const { botId, eventId } = delivery;
      deps.log.error({ err: error, botId, eventId }, "an attempt failed because of an internal error");
    }
    if (startedAt !== undefined && delivery.deliveryMode === "at-most-once") {
      return { outcome: "finished", finished: unknownOf(delivery, startedAt) };
    }
    return { outcome: "not-made", to: "waiting", delaySeconds: deps.signal.aborted ? 0 : OWN_FAULT_DELAY_SECONDS };
  }
}

function finishedBy(delivery: ClaimedDelivery, startedAt: Date, result: GuardedResult): FinishedAttempt {
  const { scheduleStep, deliveryMode } = delivery;
  const hasFailed = result.outcome === "failed";
  const { timings } = result;
  return {
    ...unknownOf(delivery, startedAt),
    ...judgeAttempt({ result, scheduleStep, deliveryMode, jitter: Math.random(), now: new Date() }),
    isSuccess: isSuccess(result),
    address: result.address ?? null,
    status: result.status ?? null,
    errorClass: hasFailed ? result.errorClass : null,
    dnsMs: timings.dnsMs ?? null,
    tcpMs: timings.tcpMs ?? null,
    tlsMs: timings.tlsMs ?? null,
    firstByteMs: timings.firstByteMs ?? null,
    totalMs: timings.totalMs,
    responseText: hasFailed ? result.detail : result.text,
  };
}

/** A request may have been sent; its outcome is unknown. */
function unknownOf(delivery: ClaimedDelivery, startedAt: Date): FinishedAttempt {
  const { botId, eventId, fence, attempt, isReplay, url } = delivery;
  return {
    ...{ botId, eventId, fence, attempt, isReplay, url, startedAt },
    ...{ state: "unknown", endReason: "at-most-once", delaySeconds: null, restSeconds: null, isSuccess: null },
    ...{ address: null, status: null, errorClass: null, responseText: null },
    ...{ dnsMs: null, tcpMs: null, tlsMs: null, firstByteMs: null, totalMs: null },
  };
}
