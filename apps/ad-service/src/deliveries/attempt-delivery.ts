import { type AnswerWarning, warningOfAnswer } from "@intermission/ad-core/receiver-warning";
import { retryAfterSeconds } from "@intermission/ad-core/retry-after-seconds";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import { refusalOfAnswer } from "@intermission/ad-core/webhook-refusal";
import type { DeliveryState, RequestErrorClass } from "@intermission/ad-core/wire-fields";
import type { EndReason } from "@intermission/operator-api/deliveries";
import type { DeliveryMode } from "../bots/bots.ts";
import type { SigningTokens } from "../bots/tokens.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { AnsweredRequest, FailedRequest, GuardedResult, OutgoingRequest } from "../outbound/outgoing-request.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";

/** One exchange with an endpoint; its times are in whole milliseconds, null for phases that it did not reach. */
interface EndpointExchange {
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
  /** The endpoint's answer, or the error. */
  responseText: string | null;
}

/** The outcome of one claimed delivery. */
export interface FinishedAttempt extends EndpointExchange {
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
  /** What is wrong with the answer of a success; null: nothing, or no success. */
  answerWarning: AnswerWarning | null;
  /** How long nothing is sent to the endpoint; null: no backoff. */
  backoffSeconds: number | null;
}

export type AttemptOutcome =
  | { outcome: "finished"; finished: FinishedAttempt }
  /** Nothing was sent, or the failure is not the endpoint's: no attempt is consumed. */
  | { outcome: "not-made"; to: "waiting" | "held"; delaySeconds: number };

interface AttemptDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
  log: { error(facts: object, message: string): void };
  /** Aborts when a stop no longer waits for the attempt. */
  signal: AbortSignal;
  now: () => Date;
}

/** After an internal error: long enough to avoid a busy loop, short enough not to matter. */
const OWN_FAULT_DELAY_SECONDS = 5;
const MAX_TARGET_LENGTH = 300;

/** Makes one attempt at a claimed delivery and returns what to record. Never throws. */
export async function attemptDelivery(
  deps: AttemptDeps,
  delivery: ClaimedDelivery,
  tokens: SigningTokens,
): Promise<AttemptOutcome> {
  const startedAt = deps.now();
  try {
    const result = await sendWebhook(deps.requests, delivery, tokens, { now: startedAt, signal: deps.signal });
    return { outcome: "finished", finished: finishedBy(delivery, { startedAt, endedAt: deps.now() }, result) };
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

function finishedBy(
  delivery: ClaimedDelivery,
  { startedAt, endedAt }: { startedAt: Date; endedAt: Date },
  result: GuardedResult,
): FinishedAttempt {
  const { scheduleStep, deliveryMode } = delivery;
  const hasFailed = result.outcome === "failed";
  const { timings } = result;
  return {
    ...unknownOf(delivery, startedAt),
    ...judgeAttempt({ result, scheduleStep, deliveryMode, jitter: Math.random(), now: endedAt }),
    isSuccess: isSuccess(result),
    answerWarning: !hasFailed && isSuccess(result) ? (warningOfAnswer(result) ?? null) : null,
    address: result.address ?? null,
    status: result.status ?? null,
    errorClass: hasFailed ? result.errorClass : null,
    dnsMs: whole(timings.dnsMs),
    tcpMs: whole(timings.tcpMs),
    tlsMs: whole(timings.tlsMs),
    firstByteMs: whole(timings.firstByteMs),
    totalMs: whole(timings.totalMs),
    responseText: hasFailed ? describeFailure(result) : describeAnswer(result),
  };
}

function whole(milliseconds: number | null | undefined): number | null {
  return milliseconds === null || milliseconds === undefined ? null : Math.round(milliseconds);
}

/** Of a redirect, its target says more than its page: another path, https, a page to sign in. */
function describeFailure({ errorClass, location, detail }: FailedRequest): string {
  const target = location?.replaceAll(/[^\x21-\x7e]/g, "").slice(0, MAX_TARGET_LENGTH);
  return errorClass === "redirect" && target ? `redirected to ${target}` : detail;
}

/** What says who answered stands first, since the text is cut. Our own receivers' refusals are read by programs. */
function describeAnswer({ signs, text }: AnsweredRequest): string {
  return signs === "" || refusalOfAnswer(text) !== undefined ? text : `${signs}\n${text}`;
}

/** A request may have been sent; its outcome is unknown. */
function unknownOf(delivery: ClaimedDelivery, startedAt: Date): FinishedAttempt {
  const { botId, eventId, fence, attempt, isReplay, url } = delivery;
  return {
    botId,
    eventId,
    fence,
    attempt,
    isReplay,
    url,
    startedAt,
    state: "unknown",
    endReason: "at-most-once",
    delaySeconds: null,
    backoffSeconds: null,
    isSuccess: null,
    answerWarning: null,
    address: null,
    status: null,
    errorClass: null,
    responseText: null,
    dnsMs: null,
    tcpMs: null,
    tlsMs: null,
    firstByteMs: null,
    totalMs: null,
  };
}

const WEBHOOK_USER_AGENT = "Intermission-Webhooks/1.0";

interface SendOptions extends Pick<OutgoingRequest, "signal" | "totalTimeoutMs"> {
  now: Date;
  userAgent?: string;
}

/** Sends the stored bytes once, with a fresh signature and timestamp. */
export async function sendWebhook(
  { guardedRequest }: Pick<GuardedRequests, "guardedRequest">,
  delivery: Pick<ClaimedDelivery, "botId" | "eventId" | "attempt" | "body" | "url" | "deliveryMode">,
  tokens: SigningTokens,
  { now, signal, userAgent = WEBHOOK_USER_AGENT, totalTimeoutMs }: SendOptions,
): Promise<GuardedResult> {
  const body = Buffer.from(delivery.body, "utf8");
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  return guardedRequest({
    purpose: "webhook",
    method: "POST",
    // The other side may close a kept connection during the write: the event would be lost without having arrived.
    connection: delivery.deliveryMode === "at-most-once" ? "fresh" : "kept",
    ...(signal && { signal }),
    ...(totalTimeoutMs !== undefined && { totalTimeoutMs }),
    url: delivery.url,
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": userAgent,
      "x-bot-id": delivery.botId,
      "x-timestamp": new Date(timestampSeconds * 1000).toISOString().replace(".000Z", "Z"),
      "x-signature": sign(body, tokens.active),
      ...signStandardWebhook({ id: delivery.eventId, timestampSeconds, body, tokens: tokens.all }),
      "webhook-attempt": String(delivery.attempt),
    },
  });
}

interface Judgement {
  state: Extract<DeliveryState, "waiting" | "delivered" | "failed" | "unknown">;
  /** Delay until the next attempt, when `waiting`. */
  delaySeconds: number | null;
  endReason: EndReason | null;
  /** How long nothing is sent to the endpoint; null: no backoff. */
  backoffSeconds: number | null;
}

const BACKOFF_SECONDS = 60;
const GONE_BACKOFF_SECONDS = 600;

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
  if (isSuccess(result)) return { state: "delivered", delaySeconds: null, endReason: null, backoffSeconds: null };

  const requestedSeconds = retryAfterSeconds(result.retryAfter, now);
  const backoffSeconds = backoffAfter(result, requestedSeconds ?? 0, jitter);
  const mayHaveArrived = result.outcome === "answered" || result.wasSent;
  if (deliveryMode === "at-most-once" && mayHaveArrived) {
    const state = result.status === undefined ? "unknown" : "failed";
    return { state, delaySeconds: null, endReason: "at-most-once", backoffSeconds };
  }
  const delaySeconds = retryDelaySeconds({ failures: scheduleStep + 1, jitter, retryAfterSeconds: requestedSeconds });
  return delaySeconds === undefined
    ? { state: "failed", delaySeconds: null, endReason: "attempts-used-up", backoffSeconds }
    : { state: "waiting", delaySeconds, endReason: null, backoffSeconds };
}

export function isSuccess(result: GuardedResult): boolean {
  return result.outcome === "answered" && result.status >= 200 && result.status <= 299;
}

/**
 * Nothing is sent for a while to an endpoint that answers that it is overloaded or gone, or does not answer in time. A proxy
 * answers 502, 503 and 504 for a receiver that restarts, as a refused connection shows it: there the breaker decides.
 */
function backoffAfter(result: GuardedResult, requestedSeconds: number, jitter: number): number | null {
  const seconds = Math.max(usualBackoff(result) * (1 + 0.2 * jitter), Math.min(requestedSeconds, MAX_RETRY_AFTER));
  return seconds > 0 ? seconds : null;
}

function usualBackoff(result: GuardedResult): number {
  if (result.status === 410) return GONE_BACKOFF_SECONDS;
  if (result.outcome === "failed" && isOverload[result.errorClass]) return BACKOFF_SECONDS;
  return result.status === 429 ? BACKOFF_SECONDS : 0;
}

/** Whether an error shows an endpoint that has too much to do. */
const isOverload = {
  dns: false,
  refused: false,
  reset: false,
  tls: false,
  "timeout-connect": false,
  "timeout-total": true,
  "blocked-address": false,
  redirect: false,
  protocol: false,
  "too-large": false,
} satisfies Record<RequestErrorClass, boolean>;

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** From the end of each failed attempt to the next: 12 attempts over 70 h 42 min, or up to a fifth more. */
const STEPS = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 24 * HOUR];
const MAX_JITTER = 0.2;
/** An endpoint may request a delay, but not postpone the schedule for days. */
const MAX_RETRY_AFTER = HOUR;

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
  const requestedSeconds = Math.min(failed.retryAfterSeconds ?? 0, MAX_RETRY_AFTER);
  return Math.max(step * (1 + MAX_JITTER * failed.jitter), requestedSeconds);
}

/** The longest delay in seconds that follows 0, 1, 2 … failures of the schedule. */
export function maxRetryDelays(): number[] {
  return [0, ...STEPS.map((step) => Math.max(step * (1 + MAX_JITTER), MAX_RETRY_AFTER)), 0];
}
