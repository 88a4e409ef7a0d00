import { HttpError } from "@intermission/http-server/http-server";

/** Expected results that are no success, in words for the operator who reads them on the command line. */
export function notFound(message: string): HttpError {
  return new HttpError(404, "NOT_FOUND", message);
}

export function unknownEvent(eventId: string): HttpError {
  return notFound(`there is no event ${eventId}; see the latest with: deliveries list`);
}

export function conflict(code: string, message: string): HttpError {
  return new HttpError(409, code, message);
}

export function invalid(message: string, details?: unknown): HttpError {
  return new HttpError(400, "BAD_REQUEST", message, { details });
}
