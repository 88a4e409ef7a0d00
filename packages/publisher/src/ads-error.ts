import { retryAfterSeconds } from "@intermission/ad-core/retry-after-seconds";

/** The ad service refused, is busy or cannot be reached. */
export class AdsError extends Error {
  override readonly name = "AdsError";
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** The service's `UPPER_SNAKE` code, `UNREACHABLE` without an answer, or `UNEXPECTED_ANSWER` for one outside the contract. */
  readonly code: string;
  /** When to try again, at most a day; undefined if the service did not say. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    facts: { status?: number | undefined; code: string; retryAfterSeconds?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

const LONGEST_RETRY_AFTER_SECONDS = 24 * 3600;

/** Makes the error of a response that is not a success, or not one of the contract. */
export function errorOf(response: Response, answer: unknown): AdsError {
  const { code, message } = envelopeOf(answer);
  const seconds = retryAfterSeconds(response.headers.get("retry-after") ?? undefined, new Date());
  return new AdsError(message ?? `the ad service answered ${response.status} without an error of the contract`, {
    status: response.status,
    code: code ?? "UNEXPECTED_ANSWER",
    retryAfterSeconds: seconds === undefined ? undefined : Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS),
  });
}

function envelopeOf(answer: unknown): { readonly code?: string; readonly message?: string } {
  const error = (answer as { error?: { code?: unknown; message?: unknown } | null } | null | undefined)?.error;
  return typeof error?.code === "string" && typeof error.message === "string"
    ? { code: error.code, message: error.message }
    : {};
}
