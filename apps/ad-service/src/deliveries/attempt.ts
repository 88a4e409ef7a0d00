import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import type { SigningTokens } from "../bots/signing-tokens.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { DeliveryState, EndReason } from "./deliveries.ts";
import { isSuccess, judgeAttempt } from "./judge-attempt.ts";

/** The outcome of one claimed delivery. */
export interface FinishedAttempt {
  botId: string;
  eventId: string;
  fence: number;
  attempt: number;
  isReplay: boolean;
  state: Extract<DeliveryState, "waiting" | "delivered" | "failed" | "unknown">;
  endReason: EndReason | null;
  /** Delay until the next attempt, when `waiting`. */
  delaySeconds: number | null;
  /** Whether the endpoint succeeded; null: an internal error, which shows nothing about the endpoint. */
  isSuccess: boolean | null;
  /** How long the endpoint rests; null: no rest. */
  restSeconds: number | null;
  startedAt: Date;
  url: string;
  address: string | null;
  status: number | null;
  errorClass: string | null;
  dnsMs: number | null;
  tcpMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  totalMs: number | null;
  responseText: string | null;
}

export type AttemptOutcome =
  | { outcome: "finished"; finished: FinishedAttempt }
  /** Nothing was sent, or the failure is not the endpoint's: no attempt is consumed. */
  | { outcome: "not-made"; to: "waiting" | "held"; delaySeconds: number };

export interface AttemptDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
  log: { error(facts: object, message: string): void };
  /** Aborts when a stop no longer waits for the attempt. */
  signal: AbortSignal;
}

/** After an internal error: long enough to avoid a busy loop, short enough not to matter. */
const OWN_FAULT_DELAY_SECONDS = 5;

/** Makes one attempt at a claimed delivery and returns what to record. Never throws. */
export async function attemptDelivery(
  deps: AttemptDeps,
  delivery: ClaimedDelivery,
  tokens: SigningTokens,
): Promise<AttemptOutcome> {
  const startedAt = new Date();
  try {
    const result = await sendWebhook(deps.requests, delivery, tokens, startedAt, deps.signal);
    return { outcome: "finished", finished: finishedBy(delivery, startedAt, result) };
  } catch (error) {
    const notMade = notMadeAfterOwnFault(deps, delivery, error);
    // The request may have been sent.
    if (delivery.deliveryMode === "at-most-once")
      return { outcome: "finished", finished: unknownOf(delivery, startedAt) };
    return notMade;
  }
}

/** After an internal error before or during an attempt: logged, unless a stop caused it, and tried again soon. */
export function notMadeAfterOwnFault(
  { log, signal }: Pick<AttemptDeps, "log" | "signal">,
  { botId, eventId }: ClaimedDelivery,
  error: unknown,
): AttemptOutcome {
  if (!signal.aborted) log.error({ err: error, botId, eventId }, "an attempt failed because of an internal error");
  return { outcome: "not-made", to: "waiting", delaySeconds: signal.aborted ? 0 : OWN_FAULT_DELAY_SECONDS };
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

/** Sends the stored bytes once, with a fresh signature and timestamp. */
async function sendWebhook(
  { guardedRequest }: Pick<GuardedRequests, "guardedRequest">,
  delivery: Pick<ClaimedDelivery, "botId" | "eventId" | "attempt" | "body" | "url" | "deliveryMode">,
  tokens: SigningTokens,
  now: Date,
  signal: AbortSignal,
): Promise<GuardedResult> {
  const body = Buffer.from(delivery.body, "utf8");
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  return guardedRequest({
    purpose: "webhook",
    method: "POST",
    // The other side may close a kept connection during the write: the event would be lost without having arrived.
    connection: delivery.deliveryMode === "at-most-once" ? "fresh" : "kept",
    signal,
    url: delivery.url,
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "Intermission-Webhooks/1.0",
      "x-bot-id": delivery.botId,
      "x-timestamp": new Date(timestampSeconds * 1000).toISOString().replace(".000Z", "Z"),
      "x-signature": sign(body, tokens.active),
      ...signStandardWebhook({ id: delivery.eventId, timestampSeconds, body, tokens: tokens.all }),
      "webhook-attempt": String(delivery.attempt),
    },
  });
}
