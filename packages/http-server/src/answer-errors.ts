import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { errorBody, HttpError, UNAVAILABLE_RETRY_SECONDS, type Unavailability } from "./error-body.ts";

/** What each answer has, whatever it says. */
export function setHeaders(response: ServerResponse, requestId: string): void {
  response.setHeader("x-request-id", requestId);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("referrer-policy", "no-referrer");
}

/** Answers with a page and returns the reply, or returns undefined and leaves the answer to the error body. */
export type ErrorPage = (request: FastifyRequest, reply: FastifyReply, status: number) => FastifyReply | undefined;

export function answerNotFound(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(404).send(errorBody("NOT_FOUND", "there is nothing at this path"));
}

const codeOfStatus: Record<number, string> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  408: "REQUEST_TIMEOUT",
  413: "BODY_TOO_LARGE",
  414: "ADDRESS_TOO_LONG",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "TOO_MANY_REQUESTS",
  503: "UNAVAILABLE",
};

/** Says which errors pass by themselves; all others that are not the caller's are ours. */
export type UnavailabilityOf = (error: unknown) => Unavailability | undefined;

export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  unavailabilityOf: UnavailabilityOf,
): void {
  // Errors before routing pass no hook.
  setHeaders(reply.raw, request.id);
  if (error instanceof HttpError) {
    reply
      .code(error.statusCode)
      .headers(error.headers)
      .send(errorBody(error.code, error.message, error.details));
    return;
  }
  const unavailability = unavailabilityOf(error);
  if (unavailability !== undefined) {
    logUnavailability(request, error, unavailability);
    reply
      .code(503)
      .header("retry-after", String(UNAVAILABLE_RETRY_SECONDS))
      .send(errorBody("UNAVAILABLE", "the service cannot answer now; ask again later"));
    return;
  }
  const { statusCode = 500, message, code } = error as Partial<FastifyError>;
  if (statusCode < 400 || statusCode >= 500) {
    request.log.error({ err: error, requestId: request.id, route: request.routeOptions?.url }, "a request failed");
    reply.code(500).send(errorBody("INTERNAL", "something failed on our side; quote the X-Request-Id to its operator"));
    return;
  }
  // Fastify's own words are for developers and name no values; only a syntax error of JSON quotes the body.
  const isJsonFault = error instanceof SyntaxError || code === "FST_ERR_CTP_INVALID_JSON_BODY";
  const words = isJsonFault ? "the body is not JSON" : (message ?? "the request is malformed");
  reply.code(statusCode).send(errorBody(codeOfStatus[statusCode] ?? "BAD_REQUEST", words));
}

/** An outage is one line a request, without a stack: where it was noticed says nothing. */
export function logUnavailability(request: FastifyRequest, error: unknown, unavailability: Unavailability): void {
  const facts = { requestId: request.id, route: request.routeOptions?.url, unavailability };
  if (unavailability === "commit-unknown") request.log.error({ ...facts, err: error }, "a commit failed");
  else request.log.warn({ ...facts, reason: reasonOf(error) }, "a request could not be served now");
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

const unreadable: Record<string, readonly [status: string, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "HEADERS_TOO_LARGE",
    "address and headers exceed 16 KiB",
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["413 Content Too Large", "BODY_TOO_LARGE", "the chunk extensions are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "REQUEST_TIMEOUT", "the request did not arrive in time"],
};
const notHttp = ["400 Bad Request", "BAD_REQUEST", "the request is not HTTP that this server understands"] as const;

/** Answers what never became a request, so on the bare socket. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  // An answer that has begun cannot be taken back: more bytes would be read as its body.
  const begun = "_httpMessage" in socket ? (socket._httpMessage as ServerResponse | null) : null;
  if (!socket.writable || begun?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, code, message] = unreadable[error.code ?? ""] ?? notHttp;
  const body = JSON.stringify(errorBody(code, message));
  const head = `content-type: application/json\r\ncontent-length: ${body.length}\r\nx-request-id: ${randomUUID()}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
}
