/** The error body of this project's APIs: `{"error":{"code":"UPPER_SNAKE","message":"…","details"?}}`. */
export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown };
}

export function errorBody(code: string, message: string, details?: unknown): ErrorBody {
  return { error: details === undefined ? { code, message } : { code, message, details } };
}

/**
 * Why a request cannot be served now, though nothing is wrong with it: a queue is full, the database is out of reach, or
 * a commit failed in a way that is our fault.
 */
export type Unavailability = "overloaded" | "out-of-reach" | "commit-unknown";

/** Seconds until a request that was answered 503 may come again. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

/**
 * Thrown by a route for an answer that its transport maps itself, such as 401 from an `onRequest` hook. Expected results
 * of verbs are values, not this.
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
