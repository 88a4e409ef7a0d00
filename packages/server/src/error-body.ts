/** The error body of this project's APIs: `{"error":{"code":"UPPER_SNAKE","message":"…","details"?}}`. */
export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown };
}

export function errorBody(code: string, message: string, details?: unknown): ErrorBody {
  return { error: details === undefined ? { code, message } : { code, message, details } };
}

/**
 * Why a valid request cannot be served now: a queue is full, the database is unreachable, or a commit failed through a
 * fault of ours.
 */
export type Unavailability = "overloaded" | "out-of-reach" | "commit-unknown";

/** Seconds after which a request that was answered 503 may be retried. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

/**
 * Thrown by a route or hook to send this answer, such as 401 from an `onRequest` hook. Expected results of core functions
 * are return values, not errors.
 */
export class HttpError extends Error {
  readonly statusCode: number;
  readonly code: string;
  readonly details: unknown;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    statusCode: number,
    code: string,
    message: string,
    options: { details?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}
