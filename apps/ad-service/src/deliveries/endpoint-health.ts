import type { EndpointState, ReceiverWarning } from "@intermission/ad-core/client-words";
import { adviseOnWarning } from "@intermission/ad-core/delivery-advice";
import type { AnswerWarning } from "@intermission/ad-core/receiver-warning";
import type { BreakerState, DisabledReason } from "@intermission/operator-api/endpoints";
import type { NoticeHealth } from "@intermission/operator-api/notices";
import type { NoticeReason } from "../notices/notice.ts";
import type { FinishedAttempt } from "./attempt-delivery.ts";
import type { DeliveryLog } from "./enqueue-webhook.ts";

/** The health of an endpoint: columns of its row. Times are milliseconds of the database's clock, -Infinity before the first. */
export interface EndpointHealth {
  state: EndpointState;
  stateSince: number;
  disabledReason: DisabledReason | null;
  /** The last mark of progress towards being disabled that was warned of. */
  warnedPercent: number;
  backoffUntil: number;
  breaker: BreakerState;
  /** When a breaker that is not closed lets the next delivery through. */
  probeAt: number;
  probeFailures: number;
  probeSuccesses: number;
  failuresInRow: number;
  windowStartedAt: number;
  windowAttempts: number;
  windowFailures: number;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  failingSince: number | null;
  failuresSinceSuccess: number;
  goneSince: number | null;
  goneEventId: string | null;
  isGoneForSeveral: boolean;
  lastStatus: number | null;
  lastErrorClass: string | null;
  lastAnswer: string | null;
  /** Of the latest success. */
  answerWarning: AnswerWarning | null;
  /** Of the latest test. */
  acceptsWrongSignature: boolean;
}

/** Why the 2xx of an endpoint may not mean that anything records its events, the graver first. */
export function warningsOf({
  answerWarning,
  acceptsWrongSignature,
}: Pick<EndpointHealth, "answerWarning" | "acceptsWrongSignature">): ReceiverWarning[] {
  return [
    ...(answerWarning === null ? [] : [answerWarning]),
    ...(acceptsWrongSignature ? (["wrong-signature-accepted"] as const) : []),
  ];
}

/** What an operator must know of a change of an endpoint's health. */
export type HealthChange =
  | { change: "failing" | "probe-failed" | "recovered" }
  | { change: "disabled"; reason: Exclude<DisabledReason, "operator"> }
  | { change: "warned"; percent: number }
  | { change: "doubtful"; warning: ReceiverWarning }
  | { change: "no-longer-doubtful" };

/** The notice that these changes cause; undefined: none. */
export function noticeOf(
  changes: readonly HealthChange[],
): { health: NoticeHealth; reason: NoticeReason | null } | undefined {
  for (const change of changes) {
    const health = noticeHealths[change.change];
    if (health) return { health, reason: reasonOf(change) };
  }
  return undefined;
}

function reasonOf(change: HealthChange): NoticeReason | null {
  if (change.change === "disabled") return change.reason;
  return change.change === "doubtful" ? change.warning : null;
}

const noticeHealths: Record<HealthChange["change"], NoticeHealth | undefined> = {
  failing: "failing",
  "probe-failed": undefined,
  recovered: "recovered",
  disabled: "disabled",
  warned: undefined,
  doubtful: "doubtful",
  "no-longer-doubtful": "recovered",
};

/** Attempts at one address that ended together, as far as they show something about it. */
export type EndpointAttempt = Pick<
  FinishedAttempt,
  "eventId" | "isSuccess" | "status" | "errorClass" | "responseText" | "backoffSeconds" | "answerWarning"
>;

/** The breaker opens after this many failures in a row, or at this failed share of a minimum of attempts in five minutes. */
const MAX_FAILURES_IN_ROW = 10;
const WINDOW_MS = 300_000;
const MIN_WINDOW_ATTEMPTS = 10;
const MAX_FAILED_SHARE = 0.7;
/**
 * From the opening to the first probe and from each failed one to the next, plus up to 20 % jitter; the last step repeats. An
 * endpoint that restarts within seconds must not wait for half a minute.
 */
const PROBE_SECONDS = [1, 2, 4, 8, 15, 30, 60, 120, 300] as const;
const MAX_PROBE_SECONDS = 300;
const MAX_JITTER = 0.2;
const SUCCESSES_TO_CLOSE = 3;

/** Only 410 answers for an hour, and for at least two events. */
const GONE_MS = 3_600_000;

/** No success for five days, with at least 20 failures spread over at least twelve hours. */
const FAILING_MS = 5 * 86_400_000;
const FAILURES_TO_DISABLE = 20;
const SPREAD_MS = 12 * 3_600_000;

/** Percentages of the progress towards being disabled at which the operator is warned. */
const MARKS = [100, 90, 70, 50];

/** Characters of the last failure's answer, for lists. */
const MAX_ANSWER = 200;

/**
 * The health of an endpoint after attempts at its address, and what an operator must know of the change. `jitter` in [0, 1)
 * spreads the probes of endpoints that failed together.
 */
export function nextEndpointHealth(
  before: EndpointHealth,
  attempts: readonly EndpointAttempt[],
  { now, jitter }: { now: number; jitter: number },
): { health: EndpointHealth; changes: HealthChange[] } {
  const counted = countAttempts(before, attempts, now);
  const moved = moveBreaker(counted, attempts, { now, jitter });
  const judged = judgeEndpoint(moved.health, attempts, now);
  // The graver change first.
  return { health: judged.health, changes: [...judged.changes, ...moved.changes, ...doubtsOf(before, judged.health)] };
}

/** A failing endpoint has another notice, and one that was disabled accepts nothing. */
function doubtsOf(before: EndpointHealth, after: EndpointHealth): HealthChange[] {
  if (after.state !== "active" || after.breaker !== "closed") return [];
  const [earlier, warning] = [warningsOf(before)[0], warningsOf(after)[0]];
  if (warning === earlier) return [];
  return warning === undefined ? [{ change: "no-longer-doubtful" }] : [{ change: "doubtful", warning }];
}

function countAttempts(before: EndpointHealth, attempts: readonly EndpointAttempt[], now: number): EndpointHealth {
  const conclusive = attempts.filter(({ isSuccess }) => isSuccess !== null);
  const failed = conclusive.filter(({ isSuccess }) => isSuccess === false);
  const successes = conclusive.length - failed.length;
  const isNewWindow = before.windowStartedAt < now - WINDOW_MS;
  const backoffMs = attempts.map(({ backoffSeconds }) => now + (backoffSeconds ?? Number.NEGATIVE_INFINITY) * 1000);
  const health: EndpointHealth = {
    ...before,
    backoffUntil: Math.max(before.backoffUntil, ...backoffMs),
    failuresInRow: successes > 0 ? 0 : before.failuresInRow + failed.length,
    probeSuccesses: before.breaker === "closed" ? 0 : before.probeSuccesses + successes,
    windowStartedAt: isNewWindow ? now : before.windowStartedAt,
    windowAttempts: (isNewWindow ? 0 : before.windowAttempts) + conclusive.length,
    windowFailures: (isNewWindow ? 0 : before.windowFailures) + failed.length,
    ...(conclusive.length > 0 && countGone(before, conclusive, now)),
  };
  const [failure] = failed;
  if (failure) {
    health.lastFailureAt = now;
    health.failingSince = before.failingSince ?? now;
    health.failuresSinceSuccess = before.failuresSinceSuccess + failed.length;
    health.lastStatus = failure.status;
    health.lastErrorClass = failure.errorClass;
    health.lastAnswer = failure.responseText === null ? null : firstCharacters(failure.responseText, MAX_ANSWER);
  }
  if (successes > 0) {
    const warned = conclusive.find(({ answerWarning }) => answerWarning !== null);
    health.answerWarning = warned?.answerWarning ?? null;
    health.lastSuccessAt = now;
    health.failingSince = null;
    health.failuresSinceSuccess = 0;
  }
  return health;
}

type GoneStreak = Pick<EndpointHealth, "goneSince" | "goneEventId" | "isGoneForSeveral">;

/** A streak of 410 answers ends with any other result. */
function countGone(before: GoneStreak, conclusive: readonly EndpointAttempt[], now: number): GoneStreak {
  if (conclusive.some(({ status }) => status !== 410))
    return { goneSince: null, goneEventId: null, isGoneForSeveral: false };
  const goneEventId = before.goneEventId ?? conclusive[0]?.eventId ?? null;
  return {
    goneSince: before.goneSince ?? now,
    goneEventId,
    isGoneForSeveral: before.isGoneForSeveral || conclusive.some(({ eventId }) => eventId !== goneEventId),
  };
}

/** How a failure opens a breaker: always, or only that of a bad endpoint; undefined: it is open. */
const openings = {
  closed: { always: false, change: "failing" },
  // Only the probe was in flight.
  "half-open": { always: true, change: "probe-failed" },
  open: undefined,
} as const satisfies Record<BreakerState, { always: boolean; change: HealthChange["change"] } | undefined>;

/** Opens the breaker of an endpoint that fails, and closes the one whose probes succeed. */
function moveBreaker(
  health: EndpointHealth,
  attempts: readonly EndpointAttempt[],
  { now, jitter }: { now: number; jitter: number },
): { health: EndpointHealth; changes: HealthChange[] } {
  const { breaker, failuresInRow, windowAttempts, windowFailures, probeFailures, probeSuccesses } = health;
  const isFailing = attempts.some(({ isSuccess }) => isSuccess === false);
  const isBad =
    failuresInRow >= MAX_FAILURES_IN_ROW ||
    (windowAttempts >= MIN_WINDOW_ATTEMPTS && windowFailures >= MAX_FAILED_SHARE * windowAttempts);
  const opening = isFailing ? openings[breaker] : undefined;
  if (opening && (opening.always || isBad)) {
    const delaySeconds = PROBE_SECONDS[probeFailures] ?? MAX_PROBE_SECONDS;
    const probeAt = now + delaySeconds * 1000 * (1 + MAX_JITTER * jitter);
    return {
      health: { ...health, breaker: "open", probeAt, probeFailures: probeFailures + 1, probeSuccesses: 0 },
      changes: [{ change: opening.change }],
    };
  }
  if (breaker === "closed" || isFailing || probeSuccesses < SUCCESSES_TO_CLOSE) return { health, changes: [] };
  // Attempts counted before the breaker closed must not open it again immediately.
  const counters = { probeFailures: 0, probeSuccesses: 0, windowAttempts: 0, windowFailures: 0 };
  return { health: { ...health, breaker: "closed", ...counters }, changes: [{ change: "recovered" }] };
}

/** Disables an active endpoint that accepts nothing for long, and warns before. */
function judgeEndpoint(
  health: EndpointHealth,
  attempts: readonly EndpointAttempt[],
  now: number,
): { health: EndpointHealth; changes: HealthChange[] } {
  if (attempts.every(({ isSuccess }) => isSuccess !== false)) {
    const warnedPercent = attempts.some(({ isSuccess }) => isSuccess) ? 0 : health.warnedPercent;
    return { health: { ...health, warnedPercent }, changes: [] };
  }
  const progress = disableProgress(health, now);
  const warnedPercent = MARKS.find((mark) => progress >= mark / 100) ?? 0;
  const warned = { ...health, warnedPercent };
  const reason = health.state === "active" ? disableReason(health, { progress, now }) : undefined;
  if (reason) {
    const changes: HealthChange[] = [{ change: "disabled", reason }];
    return { health: { ...warned, state: "disabled", stateSince: now, disabledReason: reason }, changes };
  }
  return {
    health: warned,
    changes: warnedPercent > health.warnedPercent ? [{ change: "warned", percent: warnedPercent }] : [],
  };
}

function disableReason(
  { goneSince, isGoneForSeveral }: GoneStreak,
  { progress, now }: { progress: number; now: number },
): "gone" | "failing" | undefined {
  if (isGoneForSeveral && goneSince !== null && goneSince <= now - GONE_MS) return "gone";
  return progress >= 1 ? "failing" : undefined;
}

/** Progress of an endpoint towards being disabled, from 0 to 1: the minimum over the three conditions. */
export function disableProgress(
  health: Pick<EndpointHealth, "lastSuccessAt" | "stateSince" | "failuresSinceSuccess" | "failingSince">,
  now: number,
): number {
  const { lastSuccessAt, stateSince, failuresSinceSuccess, failingSince } = health;
  return Math.min(
    1,
    (now - Math.max(lastSuccessAt ?? Number.NEGATIVE_INFINITY, stateSince)) / FAILING_MS,
    failuresSinceSuccess / FAILURES_TO_DISABLE,
    failingSince === null ? 0 : (now - failingSince) / SPREAD_MS,
  );
}

/** Cut between code points: PostgreSQL refuses half of a surrogate pair. */
function firstCharacters(text: string, count: number): string {
  return [...text.slice(0, 2 * count)].slice(0, count).join("");
}

const disableCauses: Record<Exclude<DisabledReason, "operator">, string> = {
  gone: "it answered only 410 Gone for an hour",
  failing: "it accepted nothing for five days",
};

/** Logs the changes of an endpoint that an operator must know, each at its log level. */
export function logHealthChange(log: DeliveryLog, botId: string, change: HealthChange): void {
  const { level, message, facts } = describeChange(botId, change);
  log[level]({ botId, ...facts }, message);
}

function describeChange(
  botId: string,
  change: HealthChange,
): { level: "info" | "warn" | "error"; message: string; facts?: object } {
  switch (change.change) {
    case "disabled": {
      const next = `its events are held, enable it with: endpoints enable ${botId}`;
      const message = `an endpoint was disabled: ${disableCauses[change.reason]}; ${next}`;
      return { level: "error", message, facts: { disabledReason: change.reason } };
    }
    case "warned": {
      const message = `an endpoint's progress towards being disabled is ${change.percent} %`;
      return { level: "warn", message, facts: { warnedPercent: change.percent } };
    }
    case "failing":
    case "probe-failed": {
      const message = "an endpoint is failing: its breaker is open, and one delivery at a time probes it";
      return { level: "warn", message };
    }
    case "doubtful": {
      const message = `an endpoint answers 2xx, but ${adviseOnWarning(change.warning, "operator")}`;
      return { level: "warn", message, facts: { warning: change.warning } };
    }
    case "no-longer-doubtful":
      return { level: "info", message: "an endpoint answers as a receiver again" };
    case "recovered":
      return { level: "info", message: "an endpoint has recovered: its breaker is closed" };
  }
}
