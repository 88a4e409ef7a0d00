interface RequestFacts {
  readonly status?: number | undefined;
  readonly code: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** A request that was refused or not answered. */
export abstract class RequestError extends Error {
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  readonly code: string;
  /** When to try again; undefined if the server did not say. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, facts: RequestFacts) {
    super(message, facts);
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** The ad service refused, is busy or cannot be reached. */
export class AdsError extends RequestError {
  override readonly name = "AdsError";
  /**
   * The service's `UPPER_SNAKE` code, `UNREACHABLE` without an answer, `UNEXPECTED_ANSWER` for one outside the contract, or
   * `NOT_A_PERSON` for a user id that stands for many people, which is not sent.
   */
  declare readonly code: string;
  /** When to try again, at most a day; undefined if the service did not say. */
  declare readonly retryAfterSeconds: number | undefined;
}

const LONGEST_RETRY_AFTER_SECONDS = 24 * 3600;

/** `Retry-After` as seconds or as an HTTP date. The obsolete forms of dates are not read: their parser is a quarter of the core. */
function secondsOf(header: string): number | undefined {
  const isDate = /^\w{3}, .{20} GMT$/.test(header);
  const seconds = isDate
    ? Math.ceil((Date.parse(header) - Date.now()) / 1000)
    : Number(/^\d{1,15}$/.exec(header) ?? NaN);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), LONGEST_RETRY_AFTER_SECONDS);
}

/** Makes the error of a response that is not a success, or not one of the contract. */
export function errorOf(response: Response, answer: unknown): AdsError {
  const { code, message } = envelopeOf(answer);
  return new AdsError(message ?? `the ad service answered ${response.status}`, {
    status: response.status,
    code: code ?? "UNEXPECTED_ANSWER",
    retryAfterSeconds: secondsOf(response.headers.get("retry-after") ?? ""),
  });
}

/** The error of a success (200) whose fields are not those of the contract: something else answers at this address. */
export function unexpectedAnswer(): AdsError {
  return errorOf(new Response(), undefined);
}

function envelopeOf(answer: unknown): { readonly code?: string; readonly message?: string } {
  const error = (answer as { error?: { code?: unknown; message?: unknown } | null } | null | undefined)?.error;
  return typeof error?.code === "string" && typeof error.message === "string"
    ? { code: error.code, message: error.message }
    : {};
}
