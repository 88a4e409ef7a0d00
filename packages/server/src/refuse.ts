import { HttpError } from "./http-server.ts";

/** Expected failures, in words for the operator who reads them on the command line. */
export function notFound(message: string): HttpError {
  return new HttpError(404, "NOT_FOUND", message);
}

export function conflict(code: string, message: string): HttpError {
  return new HttpError(409, code, message);
}

/** The command line replaces the field by its flag. */
export function invalidField(field: string, message: string): HttpError {
  return invalid(`${field} ${message}`, [{ field, message }]);
}

export function invalid(message: string, details?: unknown): HttpError {
  return new HttpError(400, "BAD_REQUEST", message, { details });
}
