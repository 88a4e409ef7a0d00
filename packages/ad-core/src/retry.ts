export interface FailedAttempt {
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** `UNEXPECTED_ANSWER` if the answer is not one of the server's own errors, such as the page of a proxy in front of it. */
  readonly code: string;
  readonly retryAfterSeconds?: number | undefined;
}

export interface CallSoFar {
  /** Attempts that were made. */
  readonly attempts: number;
  /** Further attempts after the first one. */
  readonly retries: number;
  /** A second request changes nothing, so it may follow one that was perhaps carried out. */
  readonly isRepeatable: boolean;
  /** From 0 to 1, so that callers which failed together do not come back together. */
  readonly random: number;
}

/** A longer wait is the caller's to decide. */
const MAX_PAUSE_SECONDS = 5;

/**
 * Whether the same request may succeed soon. 502 and 504 are answers of proxies, 520 to 527 and 530 those of Cloudflare. 500
 * is a fault of the server that a repeat meets again.
 */
function isTemporary(status: number): boolean {
  return status === 429 || (status > 501 && status < 505) || (status > 519 && status < 528) || status === 530;
}

/**
 * Seconds until the next attempt, undefined if there is none. `Retry-After` is the least wait; without it, waits double, and
 * each is up to a fifth longer. A call that is not repeatable is sent again only if the server itself refused it as busy.
 */
export function pauseBeforeRetry(
  { status, code, retryAfterSeconds }: FailedAttempt,
  { attempts, retries, isRepeatable, random }: CallSoFar,
): number | undefined {
  const isBusy = (status === 429 || status === 503) && code !== "UNEXPECTED_ANSWER";
  const mayHelp = isBusy || (isRepeatable && (status === undefined || isTemporary(status)));
  const seconds = retryAfterSeconds ?? 0.2 * 2 ** attempts;
  return mayHelp && attempts <= retries && seconds <= MAX_PAUSE_SECONDS ? seconds * (1 + random / 5) : undefined;
}
